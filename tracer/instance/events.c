// SPDX-License-Identifier: GPL-2.0-or-later
/* events.c - which trace events an instance wants, and what it makes of their records. */
#include "tracer/instance/events.h"
#include "tracer/events/events.h"
#include "tracer/events/filter/filter.h"
#include "tracer/events/trigger/trigger.h"
#include "tracer/instance/branch.h"
#include "tracer/instance/entry.h"
#include "tracer/instance/eprobe.h"
#include "tracer/instance/files.h"
#include "tracer/instance/order.h"
#include "tracer/instance/prints.h"
#include "tracer/instance/view.h"
#include "tracer/payload/record.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool instance_wants_events(const struct instance *i)
{
	return __atomic_load_n(&i->nr_events_on, __ATOMIC_RELAXED);
}

bool instance_takes_event(const struct instance *i, unsigned int vcpu, uint32_t event)
{
	/* Triggers are asked also while nothing is recorded. */
	return i->events && i->cpumask >> vcpu & 1 && event_wanted(&i->events[event]) &&
	       (instance_collects(i) || i->events[event].triggers);
}

void instance_count_events(struct instance *i)
{
	const struct guestsym_event_list *list = events_list(i->t->trace_events);
	unsigned int n = 0;

	for (size_t k = 0; k < list->n; k++)
		n += event_wanted(&i->events[k]);
	__atomic_store_n(&i->nr_events_on, n, __ATOMIC_RELAXED);
}

void instances_forget_event(struct trace *t, uint32_t event)
{
	for (struct instance *i = t->instances; i; i = i->next) {
		if (!i->events)
			continue;
		event_filter_free(i->events[event].filter);
		i->events[event].filter = NULL;
		event_triggers_free(i->events[event].triggers);
		i->events[event].triggers = NULL;
	}
}

void event_soft_mode(struct instance *i, struct event_state *s, bool on)
{
	if (on && !s->soft && !s->on)
		__atomic_store_n(&s->soft_off, true, __ATOMIC_RELAXED);
	__atomic_store_n(&s->soft, s->soft + (on ? 1 : -1u), __ATOMIC_RELAXED);
	if (!s->soft)
		__atomic_store_n(&s->soft_off, false, __ATOMIC_RELAXED);
	instance_count_events(i);
}

bool instance_wants_event_stacks(const struct instance *i, uint32_t event)
{
	const struct event_state *s = i->events ? &i->events[event] : NULL;

	return s && event_wanted(s) &&
	       (i->options & (OUTPUT_STACKTRACE | OUTPUT_USER_STACKTRACE) ||
		(s->triggers && event_triggers_want_stacks(s->triggers)) ||
		(s->probes && event_probes_want_stacks(i->t->event_probes, i, event)));
}

static bool takes_tasks(const struct instance *i, const struct payload_record *r, uint32_t event,
			const void *data)
{
	uint32_t at = events_other_pid(i->t->trace_events, event);
	int32_t pid;

	if (pid_filter_traces(&i->event_pids, record_pid(r)))
		return true;
	if (!at || at > r->event_len || r->event_len - at < sizeof(pid))
		return false;
	memcpy(&pid, (const uint8_t *)data + at, sizeof(pid));
	return pid_filter_traces(&i->event_pids, pid);
}

/* What all records begin with, as the kernel itself would have written it. */
static void entry_complete(const struct events *events, const struct payload_record *r,
			   uint32_t event, struct trace_entry *e)
{
	record_entry(r, events_list(events)->v[event].id, e);
	if (events_dec_preempt(events) && e->preempt_count & 0xf)
		e->preempt_count--;
}

/* Where the clock counts: histograms look at it as well. */
static void event_number(struct instance *i, struct event_view *v)
{
	if (!v->numbered)
		v->data.time = instance_stamp(i, v->data.time);
	v->numbered = true;
}

static void event_write(struct instance *i, struct event_view *v)
{
	struct ring *ring = i->ring[v->data.cpu];
	void *e;

	if (!instance_admits(i))
		return;
	event_number(i, v);
	e = ring_reserve(ring, v->data.len, v->data.time);
	if (!e)
		return;
	memcpy(e, v->data.record, v->data.len);
	ring_commit(ring);
	if (i->options & OUTPUT_STACKTRACE)
		event_view_record_stack(v);
	if (i->options & OUTPUT_USER_STACKTRACE)
		event_view_record_user_stack(v);
}

void instance_take_event(struct instance *i, uint32_t event, struct event_view *view)
{
	if (!instance_order_event(i, event, view))
		instance_put_event(i, event, view);
}

/* Of an event that some tracer works on. */
static void tracer_hit(struct instance *i, uint32_t event, const struct event_view *v)
{
	const struct tracer_ops *tracer = i->tracer;

	if (!instance_is_on_at(i, v->tsc) || !tracer->events)
		return;
	for (unsigned int k = 0; tracer->events[k]; k++)
		if (i->tracer_events[k] == event)
			tracer->event(i, k, v);
}

/*
 * As trace_event_buffer_commit() (kernel/trace/trace.c, 6.1), which is all that a record goes
 * through that is injected: what no trigger looks at sets none off, and the event need not be on.
 */
static struct event_triggers *triggers_of_injected(const struct event_state *s)
{
	return s->triggers && (s->probes || event_triggers_look(s->triggers)) ? s->triggers : NULL;
}

static bool is_kept(const struct event_state *s, bool injected)
{
	return injected ? !__atomic_load_n(&s->soft_off, __ATOMIC_RELAXED) : event_kept(s);
}

static void event_keep(struct instance *i, uint32_t event, struct event_view *view)
{
	struct event_state *s = &i->events[event];
	bool injected = view->uses & EVENT_USE_INJECTED, on = instance_is_on_at(i, view->tsc);
	struct event_triggers *triggers = injected ? triggers_of_injected(s) : s->triggers;
	unsigned int pending = 0;

	if (triggers || s->probes || event_filter_is_set(s->filter))
		event_view_name(view);
	if (triggers) {
		event_number(i, view);
		pending = event_triggers_hit(triggers, &view->data);
		/* What is turned on by a look at the record is too late for the record itself. */
		if (!event_triggers_look(triggers))
			on = instance_is_on_at(i, view->tsc);
	}
	if (on && is_kept(s, injected) && event_filter_match(s->filter, &view->data))
		event_write(i, view);
	if (s->probes)
		event_probes_hit(i->t->event_probes, event, view);
	if (pending)
		event_triggers_post(triggers, pending, &view->data);
	/* The record that a snapshot was asked for by has been reserved before that in the kernel.
	 */
	if (i->in_order)
		instance_snapshot_due(i);
}

/* As tracing_mark_write() (kernel/trace/trace.c, 6.1) does it. */
static void mark_keep(struct instance *i, struct event_view *v)
{
	const char *text = v->data.record;
	size_t end = v->data.len - 1; /* of the text */
	unsigned int pending = 0;
	bool on = i->on;
	char *e;

	event_number(i, v);
	if (i->mark_triggers) {
		event_view_name(v);
		pending = event_triggers_hit(i->mark_triggers, &v->data);
	}
	/* What is turned off by it has its record, which is in the ring by then. */
	e = on ? ring_reserve(i->ring[v->data.cpu], v->data.len + 1, v->data.time) : NULL;
	if (e) {
		memcpy(e, text, end);
		memcpy(e + end, text[end - 1] == '\n' ? "\0" : "\n", 2);
		ring_commit(i->ring[v->data.cpu]);
	}
	if (pending)
		event_triggers_post(i->mark_triggers, pending, &v->data);
	if (i->in_order)
		instance_snapshot_due(i);
}

void instance_put_event(struct instance *i, uint32_t event, struct event_view *view)
{
	if (event == EVENT_OF_MARK) {
		mark_keep(i, view);
		return;
	}
	if (view->uses & EVENT_USE_TRACER)
		tracer_hit(i, event, view);
	if (view->uses & EVENT_USE_KEEP)
		event_keep(i, event, view);
}

/* What its tracer may ask for once it has waited, when the copy that it is made of is overwritten.
 */
static void keep_stack(struct event_view *v, struct event_stack *own)
{
	unsigned int n = v->stack ? 0 : event_view_unwind(v, own->ip + 1, EVENT_STACK_DEPTH - 1);

	if (!n)
		return;
	own->ip[0] = 0; /* the probe's place */
	own->n = n + 1;
	own->has_user = false;
	v->stack = own;
}

void instance_collect_event(struct instance *i, unsigned int vcpu, const struct payload_record *r,
			    uint32_t event, const void *data, const struct event_stack *stack,
			    const struct event_ring *er, uint64_t ts)
{
	struct event_stack own;
	struct event_state *s;
	struct event_view view;
	bool takes;
	union {
		struct trace_entry e;
		uint8_t bytes[EVENT_MAX];
	} record;

	if (event == EVENT_OF_GUEST_PRINT) {
		guest_prints_collect(i, vcpu, r, data, stack, ts);
		return;
	}
	if (event == EVENT_OF_BRANCH) {
		instance_take_branch(i, vcpu, r, data, ts);
		return;
	}
	s = &i->events[event];
	/* No kernel makes others. */
	if (r->event_len < sizeof(record.e) || r->event_len > sizeof(record))
		return;
	takes = takes_tasks(i, r, event, data);
	if (!takes && !s->tracers)
		return;
	memcpy(&record, data, r->event_len);
	entry_complete(i->t->trace_events, r, event, &record.e);
	event_view_init(&view, i, vcpu, &record, r->event_len, ts, stack);
	view.er = er;
	view.r = r;
	view.tsc = r->tsc;
	view.uses = takes ? EVENT_USE_KEEP : 0;
	/* Who looks for a latency brings them into order by itself, and may look at their stacks.
	 */
	if (s->tracers && i->tracer->max)
		tracer_hit(i, event, &view);
	else if (s->tracers)
		view.uses |= EVENT_USE_TRACER;
	if (view.uses & EVENT_USE_TRACER && instance_is_ordered(i))
		keep_stack(&view, &own);
	if (view.uses)
		instance_take_event(i, event, &view);
}

/* --- files.h --------------------------------------------------------------------------------- */

int trace_events(struct trace *t, const struct guestsym_event_list **list)
{
	int ret = events_load(t->trace_events);

	*list = ret ? NULL : events_list(t->trace_events);
	return ret;
}

uint64_t trace_events_changes(struct trace *t)
{
	return events_changes(t->trace_events);
}

bool instance_event_is_on(struct instance *i, uint32_t event)
{
	const struct event_state *states = __atomic_load_n(&i->events, __ATOMIC_ACQUIRE);

	return states && event_kept(&states[event]);
}

bool instance_event_is_soft(struct instance *i, uint32_t event)
{
	const struct event_state *states = __atomic_load_n(&i->events, __ATOMIC_ACQUIRE);

	return states && __atomic_load_n(&states[event].soft, __ATOMIC_RELAXED);
}

int instance_events_get(struct instance *i)
{
	size_t n = events_room(i->t->trace_events);
	struct event_state *states;

	if (i->events)
		return 0;
	states = calloc(n, sizeof(*states));
	if (!states)
		return -ENOMEM;
	__atomic_store_n(&i->events, states, __ATOMIC_RELEASE);
	return 0;
}
