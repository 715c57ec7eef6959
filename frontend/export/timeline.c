// SPDX-License-Identifier: GPL-2.0-or-later
/* timeline.c - see timeline.h: tracks, and which events are for whom. */
#include "frontend/export/timeline-local.h"

#include <stdlib.h>
#include <string.h>

/* --- rows --------------------------------------------------------------------------------------
 */

static void bind_row(struct timeline *t, const struct timeline_row *row)
{
	struct tep_event *event =
		tep_find_event_by_name(formats_tep(t->x->in->formats), row->system, row->name);
	struct timeline_bound *b = &t->bound[t->nr_bound];

	if (!event || event->id < 0 || event->id >= IDS || t->nr_bound == ROWS_MAX)
		return;
	b->row = row;
	for (size_t i = 0; i < FIELDS_MAX && row->fields[i]; i++)
		b->field[i] = tep_find_field(event, row->fields[i]);
	t->by_id[event->id] = (uint8_t)++t->nr_bound;
}

static void bind_rows(struct timeline *t)
{
	static const struct timeline_row *const all[] = {
		timeline_call_rows,
		timeline_sched_rows,
		timeline_window_rows,
		timeline_marker_rows,
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		for (const struct timeline_row *row = all[i]; row->name; row++)
			bind_row(t, row);
}

/* --- the timeline ------------------------------------------------------------------------------
 */

static uint32_t own_name(struct timeline *t, const char *name)
{
	return names_text(t->names, name, strlen(name));
}

struct timeline *timeline_new(struct export *x, const struct track_ops *ops, void *arg)
{
	struct timeline *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->x = x;
	t->ops = ops;
	t->arg = arg;
	t->tree = calltree_new();
	t->cpus = calloc(DAT_CPUS_MAX, sizeof(*t->cpus));
	if (t->tree)
		t->names = names_new(x->in->formats, t->tree);
	if (!tasks_init(&t->tasks) || !t->cpus || !t->names) {
		timeline_free(t);
		return NULL;
	}
	t->waking = own_name(t, "wakeup latency");
	if (x->in->host.records && !timeline_begin_host(t)) {
		timeline_free(t);
		return NULL;
	}
	t->irqs_off = own_name(t, "irqs off");
	t->preempt_off = own_name(t, "preemption off");
	t->snapshot = snapshot_find(x->in);
	bind_rows(t);
	return t;
}

void timeline_free(struct timeline *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < COUNTERS; i++)
		free(t->counters[i]);
	tasks_exit(&t->tasks);
	timeline_free_host(t);
	free(t->cpus);
	names_free(t->names);
	calltree_free(t->tree);
	free(t);
}

uint32_t timeline_function(struct timeline *t, uint64_t addr)
{
	return names_function(t->names, addr);
}

const char *timeline_name(const struct timeline *t, uint32_t name)
{
	return t->tree->name[name];
}

uint32_t timeline_nr_names(const struct timeline *t)
{
	return t->tree->nr_names;
}

bool timeline_event(struct timeline *t, const struct decode_event *ev)
{
	const struct timeline_bound *b;

	t->now = ev->time;
	if (!t->started)
		timeline_begin_snapshot(t);
	t->started = true;
	if (!t->by_id[ev->id])
		return false;
	b = &t->bound[t->by_id[ev->id] - 1];
	return b->row->event(t, b->row, b->field, ev);
}

/* --- tracks ------------------------------------------------------------------------------------
 */

void timeline_begin(struct timeline *t, struct track *track, uint32_t name)
{
	track->open++;
	t->ops->begin(t->arg, track, t->now, name);
}

void timeline_close(struct timeline *t, struct track *track, uint32_t name)
{
	track->open--;
	t->ops->end(t->arg, track, t->now, name);
}

static void close_all(struct timeline *t, struct track *track, uint32_t name)
{
	while (track->open) {
		t->x->result.unended++;
		timeline_close(t, track, name);
	}
}

static void close_tasks(struct timeline *t)
{
	for (size_t i = 0; i < 2 * TASKS_MAX; i++) {
		struct task *task = t->tasks.slot[i];

		if (!task)
			continue;
		timeline_end_calls(t, task, 0);
		close_all(t, &task->markers, 0);
		close_all(t, &task->wakeup, t->waking);
	}
}

void timeline_end(struct timeline *t)
{
	timeline_end_snapshot(t);
	timeline_end_host(t);
	close_tasks(t);
	for (size_t i = 0; i < DAT_CPUS_MAX; i++) {
		close_all(t, &t->cpus[i].irqs, t->irqs_off);
		close_all(t, &t->cpus[i].preempt, t->preempt_off);
	}
}

const char *timeline_track_name(const struct timeline *t, const struct track *track, char *buf,
				size_t size)
{
	static const char *const names[] = {
		[TRACK_CALLS] = "calls",
		[TRACK_MARKERS] = "markers",
		[TRACK_WAKEUP] = "wakeup latency",
		[TRACK_IRQS_OFF] = "irqs off",
		[TRACK_PREEMPT_OFF] = "preemption off",
		[TRACK_HOST] = "on the host",
	};

	if (track->kind == TRACK_COUNTER)
		snprintf(buf, size, "%s", timeline_name(t, track->name));
	else if (!track->task)
		snprintf(buf, size, "CPU %u %s", track->cpu, names[track->kind]);
	else
		snprintf(buf, size, "%s", names[track->kind]);
	return buf;
}

/* --- tasks -------------------------------------------------------------------------------------
 */

/* Those that do nothing now go first; if they all do, slices are cut. */
static bool make_room(struct timeline *t)
{
	if (!tasks_sweep(&t->tasks))
		return false;
	if (t->tasks.nr < TASKS_MAX / 2 && t->tasks.frames < FRAMES_MAX / 2)
		return true;
	close_tasks(t);
	return tasks_sweep(&t->tasks);
}

/* Whose name the file tells, until events do. NULL: no memory. */
static struct task *add_task(struct timeline *t, const struct decode_event *ev, int32_t pid)
{
	if (tasks_full(&t->tasks) && !make_room(t)) {
		t->x->failed = true;
		return NULL;
	}
	return tasks_add(&t->tasks, ev->buffer, pid, ev->cpu);
}

static void name_task(struct timeline *t, struct task *task)
{
	const char *comm = "swapper";

	if (task->pid)
		comm = tep_data_comm_from_pid(formats_tep(t->x->in->formats), task->pid);
	timeline_rename(t, task, comm, strlen(comm));
}

struct task *timeline_task(struct timeline *t, const struct decode_event *ev, int32_t pid)
{
	struct task *task = tasks_find(&t->tasks, ev->buffer, pid, ev->cpu);

	if (task)
		return task;
	task = add_task(t, ev, pid);
	if (task)
		name_task(t, task);
	else
		t->x->failed = true;
	return task;
}

struct task *timeline_made(struct timeline *t, const struct decode_event *ev, int32_t pid)
{
	struct task *task = tasks_find(&t->tasks, ev->buffer, pid, ev->cpu);

	if (!task)
		task = add_task(t, ev, pid);
	if (task)
		*task->comm = '\0'; /* so that it is told by the name that it gets */
	else
		t->x->failed = true;
	return task;
}

void timeline_rename(struct timeline *t, struct task *task, const char *comm, size_t len)
{
	char clean[NAMES_LEN] = "";

	/* What is cut is not cut within a character: cleaning takes what is left of it for none. */
	if (len >= TASKS_COMM)
		len = TASKS_COMM - 1;
	if (*task->comm && (!len || (strlen(task->comm) == len && !memcmp(task->comm, comm, len))))
		return;
	names_clean(clean, comm, len);
	if (!strcmp(clean, task->comm))
		return;
	memcpy(task->comm, clean, TASKS_COMM);
	timeline_tell(t, task);
}

void timeline_tell(struct timeline *t, const struct task *task)
{
	if (t->ops->task)
		t->ops->task(t->arg, task);
}

const struct task *timeline_current(struct timeline *t, const struct decode_event *ev)
{
	return timeline_task(t, ev, ev->pid);
}

bool timeline_pid(const struct tep_format_field *field, const struct decode_event *ev, int32_t *pid)
{
	uint64_t n;

	if (!formats_number(field, ev, &n))
		return false;
	*pid = (int32_t)n;
	return true;
}
