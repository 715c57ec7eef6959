// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * chrome.c - the Trace Event Format of Chrome's about:tracing, which many viewers read: JSON, an
 * object for each event, by processes and threads. Tracks that are no thread's, and vCPUs, are
 * threads of processes whose numbers no kernel has.
 */
#include "frontend/export/timeline.h"

#include "frontend/decode/fields.h"
#include "frontend/decode/print.h"
#include "frontend/export/names.h"
#include "frontend/lib/json.h"

#include <stdlib.h>
#include <string.h>

/* Above PID_MAX_LIMIT, 1 << 22. */
enum { PID_CPUS = 1 << 24, PID_BUFFERS = 1 << 25, PID_TRACKS = 1 << 26, TID_IDLE = 1 << 24 };

/* Who runs on a vCPU. */
struct running {
	bool told; /* what the vCPU is called */
	bool known;
	uint64_t since;
	int32_t pid;
	char comm[TASKS_COMM];
};

struct chrome {
	struct export *x;
	struct timeline *timeline;
	struct json j;
	bool told_cpus;
	uint64_t now;
	int switch_id; /* -1: there is no such event */
	const struct tep_format_field *next_pid, *next_comm;
	struct running *running; /* DAT_CPUS_MAX */
};

/* Where an event is shown. */
struct place {
	int64_t pid, tid;
};

/* --- objects -----------------------------------------------------------------------------------
 */

/* The beginning of one. */
static void put_head(struct chrome *c, const char *ph, struct place at)
{
	json_begin_object(&c->j, NULL);
	json_put_text(&c->j, "ph", ph);
	json_put_signed(&c->j, "pid", at.pid);
	json_put_signed(&c->j, "tid", at.tid);
}

/* Microseconds. */
static void put_time(struct chrome *c, const char *key, uint64_t ns)
{
	json_put_fixed(&c->j, key, ns, 3);
}

static void put_name(struct chrome *c, const char *name)
{
	json_put_text(&c->j, "name", name);
}

/* What a process or thread is called. */
static void put_metadata(struct chrome *c, const char *what, struct place at, const char *name)
{
	put_head(c, "M", at);
	put_name(c, what);
	json_begin_object(&c->j, "args");
	put_name(c, name);
	json_end_object(&c->j);
	json_end_object(&c->j);
}

/* --- places ------------------------------------------------------------------------------------
 */

static struct place place_of_task(const struct task *task)
{
	struct place at = {task->tgid, task->pid};

	if (!task->pid)
		at = (struct place){0, TID_IDLE + (int64_t)task->cpu};
	if (task->buffer)
		at.pid = PID_BUFFERS + (int64_t)task->buffer;
	return at;
}

static struct place place_of_track(const struct track *t)
{
	struct place at = {t->tgid, t->tgid};

	if (t->task)
		at = place_of_task(t->task);
	if (t->kind == TRACK_CALLS || t->kind == TRACK_COUNTER)
		return at;
	if (!t->task)
		at.tid = t->cpu;
	at.pid = PID_TRACKS + (t->task ? (int64_t)t->task->buffer * 8 : 0) + (int64_t)t->kind;
	return at;
}

static void on_task(void *arg, const struct task *task)
{
	struct chrome *c = arg;
	struct place at = place_of_task(task);
	char name[NAMES_LEN];

	if (!task->pid)
		snprintf(name, sizeof(name), "swapper/%u", task->cpu);
	else
		snprintf(name, sizeof(name), "%s", task->comm);
	put_metadata(c, "thread_name", at, name);
	if (task->buffer)
		put_metadata(c, "process_name", at, dat_buffer(c->x->in->dat, task->buffer)->name);
	else if (task->tgid == task->pid)
		put_metadata(c, "process_name", at, task->comm);
}

/* Calls are on a place that its task has told. */
static void tell_track(struct chrome *c, struct track *t)
{
	char name[NAMES_LEN];

	if (t->told || t->kind == TRACK_CALLS)
		return;
	t->told = true;
	timeline_track_name(c->timeline, t, name, sizeof(name));
	put_metadata(c, "process_name", place_of_track(t), name);
	put_metadata(c, "thread_name", place_of_track(t), t->task ? t->task->comm : name);
}

/* --- slices ------------------------------------------------------------------------------------
 */

static void put_named(struct chrome *c, const char *ph, struct track *t, uint64_t time,
		      uint32_t name)
{
	tell_track(c, t);
	put_head(c, ph, place_of_track(t));
	put_time(c, "ts", time);
	if (name)
		put_name(c, timeline_name(c->timeline, name));
}

static void on_begin(void *arg, struct track *t, uint64_t time, uint32_t name)
{
	struct chrome *c = arg;

	put_named(c, "B", t, time, name);
	json_end_object(&c->j);
}

static void on_end(void *arg, struct track *t, uint64_t time, uint32_t name)
{
	struct chrome *c = arg;

	(void)name;
	put_named(c, "E", t, time, 0);
	json_end_object(&c->j);
}

static void on_instant(void *arg, struct track *t, uint64_t time, uint32_t name)
{
	struct chrome *c = arg;

	put_named(c, "i", t, time, name);
	json_put_text(&c->j, "s", "t");
	json_end_object(&c->j);
}

static void on_counter(void *arg, struct track *t, uint64_t time, int64_t value)
{
	struct chrome *c = arg;

	put_head(c, "C", place_of_track(t));
	put_time(c, "ts", time);
	put_name(c, timeline_name(c->timeline, t->name));
	json_begin_object(&c->j, "args");
	json_put_signed(&c->j, "value", value);
	json_end_object(&c->j);
	json_end_object(&c->j);
}

static const struct track_ops tracks = {
	.task = on_task,
	.begin = on_begin,
	.end = on_end,
	.instant = on_instant,
	.counter = on_counter,
};

/* --- events, and who runs ----------------------------------------------------------------------
 */

static void put_event(struct chrome *c, const struct decode_event *ev)
{
	const struct tep_event *event = formats_event(c->x->in->formats, ev->id);
	const struct task *task = timeline_current(c->timeline, ev);

	if (!event || !task)
		return;
	put_head(c, "i", place_of_task(task));
	put_time(c, "ts", ev->time);
	put_name(c, event->name);
	json_put_text(&c->j, "s", "t");
	json_put_text(&c->j, "cat", event->system);
	print_json_fields(event, ev, "args", &c->j);
	json_end_object(&c->j);
}

static void put_running(struct chrome *c, unsigned int cpu)
{
	struct running *r = &c->running[cpu];
	const struct place at = {PID_CPUS, cpu};
	char name[24];

	if (!r->known || !r->pid)
		return;
	if (!c->told_cpus)
		put_metadata(c, "process_name", at, "CPUs");
	c->told_cpus = true;
	snprintf(name, sizeof(name), "CPU %u", cpu);
	if (!r->told)
		put_metadata(c, "thread_name", at, name);
	r->told = true;
	put_head(c, "X", at);
	put_time(c, "ts", r->since);
	put_time(c, "dur", c->now - r->since);
	put_name(c, r->comm);
	json_begin_object(&c->j, "args");
	json_put_signed(&c->j, "pid", r->pid);
	json_end_object(&c->j);
	json_end_object(&c->j);
}

static void on_switch(struct chrome *c, const struct decode_event *ev)
{
	struct running *r = &c->running[ev->cpu];
	struct field_bytes comm;
	char clean[NAMES_LEN] = "";
	uint64_t pid;

	put_running(c, ev->cpu);
	*r = (struct running){.told = r->told, .since = ev->time};
	if (!formats_number(c->next_pid, ev, &pid))
		return;
	r->known = true;
	r->pid = (int32_t)pid;
	if (!c->next_comm)
		return;
	comm = fields_text(c->next_comm, ev);
	names_clean(clean, (const char *)comm.at,
		    comm.len < TASKS_COMM ? comm.len : TASKS_COMM - 1);
	memcpy(r->comm, clean, TASKS_COMM);
}

/* --- the format --------------------------------------------------------------------------------
 */

static void chrome_free(void *self)
{
	struct chrome *c = self;

	timeline_free(c->timeline);
	free(c->running);
	free(c);
}

static void *chrome_begin(struct export *x)
{
	struct tep_event *sw =
		tep_find_event_by_name(formats_tep(x->in->formats), "sched", "sched_switch");
	struct chrome *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	*c = (struct chrome){
		.x = x,
		.j = {.out = x->out, .compact = true},
		.switch_id = sw ? sw->id : -1,
	};
	if (sw) {
		c->next_pid = tep_find_field(sw, "next_pid");
		c->next_comm = tep_find_field(sw, "next_comm");
	}
	c->running = calloc(DAT_CPUS_MAX, sizeof(*c->running));
	c->timeline = timeline_new(x, &tracks, c);
	if (!c->running || !c->timeline) {
		chrome_free(c);
		return NULL;
	}
	json_begin_object(&c->j, NULL);
	json_put_text(&c->j, "displayTimeUnit", "ns");
	json_begin_rows(&c->j, "traceEvents");
	return c;
}

static void chrome_event(void *self, const struct decode_event *ev)
{
	struct chrome *c = self;

	c->now = ev->time;
	if (!timeline_event(c->timeline, ev))
		put_event(c, ev);
	if (ev->id == c->switch_id)
		on_switch(c, ev);
}

static void chrome_host_event(void *self, const struct decode_event *ev)
{
	struct chrome *c = self;

	c->now = ev->time;
	timeline_host_event(c->timeline, ev);
}

static void chrome_end(void *self)
{
	struct chrome *c = self;

	timeline_end(c->timeline);
	for (unsigned int cpu = 0; cpu < DAT_CPUS_MAX; cpu++)
		put_running(c, cpu);
	json_end_array(&c->j);
	json_end_object(&c->j);
}

const struct export_format export_chrome = {
	.name = "chrome",
	.about = "Trace Event Format, JSON, for chrome://tracing and many viewers",
	.begin = chrome_begin,
	.event = chrome_event,
	.host_event = chrome_host_event,
	.end = chrome_end,
	.free = chrome_free,
};
