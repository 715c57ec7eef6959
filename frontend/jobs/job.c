// SPDX-License-Identifier: GPL-2.0-or-later
/* job.c - see jobs.h: the way through the records, and what rows are called. */
#include "frontend/jobs/boot.h"
#include "frontend/jobs/local.h"

#include "frontend/decode/fields.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* --- events ------------------------------------------------------------------------------------
 */

static void bind_event(struct work *w, const struct job_event *row)
{
	struct tep_event *event =
		tep_find_event_by_name(formats_tep(w->in->formats), row->system, row->name);
	struct job_bound *b = &w->bound[w->nr_bound];

	if (!event || event->id < 0 || event->id >= JOB_IDS || w->nr_bound == JOB_EVENTS)
		return;
	b->row = row;
	for (size_t i = 0; i < JOB_FIELDS && row->fields[i]; i++)
		b->field[i] = tep_find_field(event, row->fields[i]);
	w->by_id[event->id] = (uint8_t)++w->nr_bound;
}

static void see_event(struct work *w, const struct decode_event *ev)
{
	const struct job_bound *b;

	if (w->job->before)
		w->job->before(w, ev);
	if (ev->id < 0 || ev->id >= JOB_IDS || !w->by_id[ev->id])
		return;
	b = &w->bound[w->by_id[ev->id] - 1];
	w->result->events += !b->row->beside;
	b->row->event(w, b->field, ev);
}

/* Those of one vCPU may lie. */
static void put_right(struct work *w, struct decode_event *ev, uint64_t *last)
{
	if (ev->time < *last) {
		w->result->late++;
		ev->time = *last;
	}
	*last = ev->time;
	if (ev->lost)
		w->result->report.gaps++;
}

static void see_all(struct work *w)
{
	const struct decode_event *next;
	uint64_t last = 0;

	while (!w->failed && (next = records_next(w->in->records))) {
		struct decode_event ev = *next;

		put_right(w, &ev, &last);
		see_event(w, &ev);
	}
}

/* --- what jobs ask for --------------------------------------------------------------------------
 */

bool job_wants(const struct work *w, int32_t pid)
{
	for (size_t i = 0; i < w->cfg->nr_pids; i++)
		if (w->cfg->pids[i] == pid)
			return true;
	return !w->cfg->nr_pids;
}

void job_open(struct job_task *t, uint64_t now, uint32_t what)
{
	t->open = true;
	t->from = now;
	t->what = what;
}

int32_t job_pid(const struct tep_format_field *field, const struct decode_event *ev)
{
	uint64_t n;

	return formats_number(field, ev, &n) && (int32_t)n >= 0 ? (int32_t)n : -1;
}

static void call_task(struct job_task *t, const char *comm, size_t len)
{
	if (len >= JOB_COMM)
		len = JOB_COMM - 1;
	memcpy(t->comm, comm, len);
	t->comm[len] = '\0';
}

struct job_task *job_task(struct work *w, int32_t pid, const struct tep_format_field *comm,
			  const struct decode_event *ev)
{
	struct field_bytes text;
	const char *known;
	bool made;
	struct job_task *t = job_tasks_get(&w->tasks, pid, &made);

	if (comm) {
		text = fields_text(comm, ev);
		call_task(t, (const char *)text.at, text.len);
	} else if (made) {
		known = tep_data_comm_from_pid(formats_tep(w->in->formats), pid);
		call_task(t, known, strlen(known));
	}
	/* What was lost may have been its end. */
	if (t->gap != (uint32_t)w->result->report.gaps) {
		t->running = t->open = false;
		if (t->calls)
			t->calls->nr = 0;
	}
	t->gap = (uint32_t)w->result->report.gaps;
	return t;
}

static uint64_t hash_text(const char *text)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325); /* FNV-1a */

	for (; *text; text++)
		h = (h ^ (uint8_t)*text) * UINT64_C(0x100000001b3);
	return h;
}

struct latency_row *job_row(struct work *w, const struct job_task *t, unsigned int cpu,
			    uint32_t what, const char *to)
{
	char from[LATENCY_NAME_LEN] = "";
	uint64_t key = 0;
	struct latency_row *row;

	switch (w->by) {
	case JOB_BY_TASK:
		key = (uint32_t)t->pid;
		snprintf(from, sizeof(from), "%s-%d", t->comm, t->pid);
		break;
	case JOB_BY_NAME:
		key = hash_text(t->comm) >> 32;
		snprintf(from, sizeof(from), "%s", *t->comm ? t->comm : "?");
		break;
	case JOB_BY_CPU:
		key = cpu;
		snprintf(from, sizeof(from), "CPU %u", cpu);
		break;
	case JOB_BY_PRIO:
		key = (uint32_t)t->prio;
		snprintf(from, sizeof(from), "prio %d", t->prio);
		break;
	case JOB_BY_CALL:
	case JOB_BY_REASON:
		break;
	}
	/* What says it all alone is not told twice. */
	if (*from)
		row = rows_get(&w->rows, key << 32 | what, from, to);
	else
		row = rows_get(&w->rows, what, to, "");
	w->failed |= !row;
	return row;
}

size_t job_stack(const struct tep_format_field *const *field, const struct decode_event *ev,
		 uint64_t func[JOB_STACK_MAX])
{
	struct field_bytes bytes;
	uint64_t nr;

	if (!field[1] || !formats_number(field[0], ev, &nr))
		return 0;
	/* There are more than the format tells, where it tells how many. */
	bytes = fields_range(ev, (uint64_t)field[1]->offset, UINT64_MAX);
	if (nr > bytes.len / sizeof(*func))
		nr = bytes.len / sizeof(*func);
	if (nr > JOB_STACK_MAX)
		nr = JOB_STACK_MAX;
	memcpy(func, bytes.at, nr * sizeof(*func));
	/* ~0 is the end of one that is shorter than the room for it. */
	while (nr && func[nr - 1] == UINT64_MAX)
		nr--;
	return (size_t)nr;
}

const char *job_function(const struct work *w, uint64_t addr, char buf[24])
{
	const char *name = tep_find_function(formats_tep(w->in->formats), addr);

	if (name)
		return name;
	snprintf(buf, 24, "0x%" PRIx64, addr);
	return buf;
}

/* --- the whole ----------------------------------------------------------------------------------
 */

static const char *const by_names[] = {
	[JOB_BY_TASK] = "task", [JOB_BY_NAME] = "name", [JOB_BY_CPU] = "cpu",
	[JOB_BY_PRIO] = "prio", [JOB_BY_CALL] = "call", [JOB_BY_REASON] = "reason",
};

const char *job_by_name(const struct job *job, unsigned int i)
{
	return i < sizeof(job->by) / sizeof(*job->by) ? job->by[i] : NULL;
}

const char *job_needs(const struct job *job)
{
	return job->needs;
}

static enum job_by by_of(const struct job *job, const char *name)
{
	enum job_by by = JOB_BY_TASK;

	if (!name)
		name = job->by[0];
	for (size_t i = 0; name && i < sizeof(by_names) / sizeof(*by_names); i++)
		if (!strcmp(by_names[i], name))
			by = (enum job_by)i;
	return by;
}

static bool begin(struct work *w)
{
	if (!job_tasks_init(&w->tasks) || !rows_init(&w->rows, &w->result->report))
		return false;
	for (const struct job_event *row = w->job->events; row->name; row++)
		bind_event(w, row);
	return !w->job->begin || w->job->begin(w);
}

static void end(struct work *w)
{
	if (w->job->end)
		w->job->end(w);
	for (uint32_t i = 0; i < w->tasks.nr; i++)
		w->result->unended += w->tasks.task[i].open;
	w->result->left_out += w->tasks.forgotten;
}

int job_read(const struct job *job, const struct job_input *in, const struct job_config *cfg,
	     struct job_result *r)
{
	struct work *w = calloc(1, sizeof(*w));
	int rc;

	*r = (struct job_result){.report = {.words = &job->words}};
	if (!w)
		return -ENOMEM;
	snprintf(r->report.tracer, sizeof(r->report.tracer), "%s", job->name);
	w->job = job;
	w->in = in;
	w->cfg = cfg;
	w->result = r;
	w->by = by_of(job, cfg->by);
	w->failed = !begin(w);
	see_all(w);
	if (!w->failed)
		end(w);
	rc = w->failed ? -ENOMEM : 0;
	if (job->free)
		job->free(w);
	rows_exit(&w->rows);
	job_tasks_exit(&w->tasks);
	free(w);
	return rc;
}

void job_result_free(struct job_result *r)
{
	latency_report_free(&r->report);
	free(r->worst);
	calltree_free(r->stacks);
	boot_free(r->boot);
}
