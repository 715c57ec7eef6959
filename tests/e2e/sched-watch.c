// SPDX-License-Identifier: GPL-2.0-or-later
/* sched-watch.c - events of the scheduler, recorded beside a tracer that works on them. */
#include "tracer/instance/events.h"
#include "tests/e2e/sched-watch.h"

#include <string.h>

#include "tracer/ring/entry.h"
#include "tracer/events/filter/data.h"
#include "tracer/instance/instance.h"
#include "tracer/ring/merge.h"
#include "tracer/instance/files.h"
#include "tracer/record/files.h"
#include "tracer/control/files.h"
#include "tracer/tracer.h"

static const char *const event_names[NR_EVENTS] = {"sched_switch", "sched_wakeup",
						   "sched_wakeup_new"};

void watch_begin(struct watch *w, struct env *e, const char *tracer)
{
	struct trace_config cfg = {
		.tracer = "nop",
		.control = true,
		.buffer_bytes = 16 << 20,
		.engine = TRACE_ENGINE_TRAMPOLINE,
	};

	w->e = e;
	env_trace(e, cfg);
	assert_int_equal(trace_events(e->trace, &w->list), 0);
	for (unsigned int k = 0; k < NR_EVENTS; k++)
		for (w->event[k] = 0; strcmp(w->list->v[w->event[k]].name, event_names[k]) != 0;)
			assert_true(++w->event[k] < w->list->n);
	assert_int_equal(instance_new(e->trace, "events"), 0);
	w->events = instance_get(e->trace, "events");
	assert_non_null(w->events);
	assert_int_equal(instance_resize(w->events, ALL_VCPUS, 16 << 10), 0);
	assert_int_equal(instance_set_tracer(trace_top(e->trace), tracer), 0);
	assert_string_equal(instance_tracer(trace_top(e->trace)), tracer);
	assert_int_equal(instance_set_events(w->events, w->event, NR_EVENTS, true), 0);
	for (unsigned int k = 0; k < NR_EVENTS; k++)
		assert_false(instance_event_is_on(trace_top(e->trace), w->event[k]));
}

void watch_set_on(const struct watch *w, bool on)
{
	machine_pause(w->e->m);
	instance_set_on(trace_top(w->e->trace), on);
	instance_set_on(w->events, on);
	machine_resume(w->e->m);
}

void watch_clear(const struct watch *w)
{
	watch_set_on(w, false);
	instance_clear(trace_top(w->e->trace), ALL_VCPUS);
	instance_clear(w->events, ALL_VCPUS);
}

void watch_stop(struct watch *w)
{
	watch_set_on(w, false);
	assert_int_equal(instance_set_events(w->events, w->event, NR_EVENTS, false), 0);
}

void watch_end(struct watch *w)
{
	assert_int_equal(instance_set_tracer(trace_top(w->e->trace), "nop"), 0);
	for (unsigned int k = 0; k < NR_EVENTS; k++)
		assert_int_equal(trace_top(w->e->trace)->events[w->event[k]].tracers, 0);
	assert_int_equal(trace_detach(w->e->trace), 0);
	instance_put(w->events);
	env_trace_forget(w->e);
}

int64_t watch_value(const struct watch *w, unsigned int event, const struct ring_event *rec,
		    const char *name)
{
	const struct event_format format = {&w->list->v[w->event[event]], w->list->common,
					    w->list->nr_common};
	const struct event_field f = event_field_find(&format, name, strlen(name));
	const struct event_data data = {.record = rec->data, .len = rec->len};
	uint64_t value;

	assert_true(event_field_number(&f, &data, &value));
	return (int64_t)value;
}

bool watch_next(const struct watch *w, struct ring_cursor *c, unsigned int event,
		struct ring_event *ev)
{
	while (ring_next(c, ev)) {
		const struct trace_entry *ent = ev->data;

		assert_int_equal(ev->lost, 0);
		if (ent->type == w->list->v[w->event[event]].id)
			return true;
	}
	return false;
}

/* --- what they say of wakeups ----------------------------------------------------------------- */

static bool is_deadline(int64_t prio)
{
	return prio < 0;
}

/* It ran when it was woken up, or has run since: the kernel's tracer would go on waiting. */
static void has_run(struct offline *o, int64_t pid)
{
	if (o->pid == pid)
		o->pid = 0;
}

static void offline_wakeup(const struct watch *w, struct offline *o, unsigned int cpu,
			   const struct ring_event *ev)
{
	const struct trace_entry *ent = ev->data;
	int64_t pid = watch_value(w, WAKEUP, ev, "pid"), prio = watch_value(w, WAKEUP, ev, "prio");
	int64_t waker = ent->pid ? o->running[cpu] : 120;

	prio = (int32_t)prio;
	has_run(o, pid);
	if (prio >= o->below || waker == INT64_MIN || (o->pid && is_deadline(o->prio)))
		return;
	if (!is_deadline(prio) && (prio >= waker || (o->pid && prio >= o->prio)))
		return;
	o->pid = pid;
	o->prio = prio;
	o->since = ev->ts;
}

static void offline_switch(const struct watch *w, struct offline *o, unsigned int cpu,
			   const struct ring_event *ev)
{
	int64_t pid = watch_value(w, SWITCH, ev, "next_pid");

	has_run(o, watch_value(w, SWITCH, ev, "prev_pid"));
	o->running[cpu] = (int32_t)watch_value(w, SWITCH, ev, "next_prio");
	if (!o->pid || pid != o->pid)
		return;
	o->windows++;
	o->pid = 0;
	if (ev->ts - o->since <= o->max)
		return;
	o->max = ev->ts - o->since;
	o->max_pid = pid;
}

void offline_compute(const struct watch *w, struct offline *o)
{
	struct merge *m = merge_new(w->events->ring, w->e->trace->vcpus, false);
	struct ring_event ev;
	unsigned int cpu;

	assert_non_null(m);
	for (unsigned int v = 0; v < MACHINE_MAX_VCPUS; v++)
		o->running[v] = INT64_MIN;
	while (merge_next(m, &ev, &cpu)) {
		const struct trace_entry *ent = ev.data;

		assert_int_equal(ev.lost, 0);
		if (ent->type == w->list->v[w->event[SWITCH]].id)
			offline_switch(w, o, cpu, &ev);
		else
			offline_wakeup(w, o, cpu, &ev);
	}
	merge_free(m);
}
