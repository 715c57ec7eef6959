// SPDX-License-Identifier: GPL-2.0-or-later
/* instance-events.c - which trace events an instance wants, and what it makes of their records. */
#include "tracer/event-filter.h"
#include "tracer/events.h"
#include "tracer/instance.h"
#include "tracer/record.h"
#include "tracer/trampoline.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool instance_wants_events(const struct instance *i)
{
	return __atomic_load_n(&i->nr_events_on, __ATOMIC_RELAXED);
}

bool instance_takes_event(const struct instance *i, unsigned int vcpu, uint32_t event)
{
	return i->on && i->events && i->cpumask >> vcpu & 1 && i->events[event].on;
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

static bool filter_keeps(struct instance *i, unsigned int vcpu, const struct payload_record *r,
			 uint32_t event, const void *data, uint64_t ts)
{
	const struct event_filter *filter = i->events[event].filter;
	union {
		struct trace_entry e;
		uint8_t bytes[EVENT_MAX];
	} record;

	if (!event_filter_is_set(filter))
		return true;
	if (r->event_len > sizeof(record))
		return false; /* no kernel makes such a one */
	memcpy(&record, data, r->event_len);
	entry_complete(i->t->trace_events, r, event, &record.e);
	return instance_filter_keeps(i, vcpu, filter, &record, r->event_len, ts);
}

void instance_collect_event(struct instance *i, unsigned int vcpu, const struct payload_record *r,
			    uint32_t event, const void *data, uint64_t ts)
{
	struct trace_entry *e;

	if (r->event_len < sizeof(*e))
		return; /* no probe makes such a one */
	if (!takes_tasks(i, r, event, data) || !filter_keeps(i, vcpu, r, event, data, ts))
		return;
	if (i == i->t->instances ? !trace_admit(i->t, 1) : atomic_load(&i->t->done))
		return;
	e = ring_reserve(i->ring[vcpu], r->event_len, ts);
	if (!e)
		return;
	memcpy(e, data, r->event_len);
	entry_complete(i->t->trace_events, r, event, e);
	ring_commit(i->ring[vcpu]);
}

/* --- control.h ------------------------------------------------------------------------------- */

int trace_events(struct trace *t, const struct guestsym_event_list **list)
{
	int ret = events_load(t->trace_events);

	*list = ret ? NULL : events_list(t->trace_events);
	return ret;
}

bool instance_event_is_on(struct instance *i, uint32_t event)
{
	const struct event_state *states = __atomic_load_n(&i->events, __ATOMIC_ACQUIRE);

	return states && __atomic_load_n(&states[event].on, __ATOMIC_RELAXED);
}

int instance_events_get(struct instance *i)
{
	size_t n = events_list(i->t->trace_events)->n;
	struct event_state *states;

	if (i->events)
		return 0;
	states = calloc(n ? n : 1, sizeof(*states));
	if (!states)
		return -ENOMEM;
	__atomic_store_n(&i->events, states, __ATOMIC_RELEASE);
	return 0;
}

void instance_events_free(struct instance *i)
{
	const struct guestsym_event_list *list = events_list(i->t->trace_events);

	for (size_t k = 0; i->events && k < list->n; k++)
		event_filter_free(i->events[k].filter);
	free(i->events);
}

static void states_set(struct instance *i, const uint32_t *which, size_t n, bool on)
{
	instance_writers_stop(i->t);
	trampoline_drain_all(i->t); /* by what was wanted up to now */
	for (size_t k = 0; k < n; k++) {
		struct event_state *s = &i->events[which[k]];

		if (s->on != on)
			i->nr_events_on += on ? 1 : -1u;
		__atomic_store_n(&s->on, on, __ATOMIC_RELAXED);
	}
	instance_writers_go(i->t);
}

int instance_set_events(struct instance *i, const uint32_t *which, size_t n, bool on)
{
	struct events *events = i->t->trace_events;
	int ret = events_load(events), error;
	uint32_t *changed = NULL;
	size_t nr = 0;

	if (ret)
		return ret;
	changed = malloc((n ? n : 1) * sizeof(*changed));
	if (!changed)
		return -ENOMEM;
	events_lock(events);
	ret = instance_events_get(i);
	for (size_t k = 0; k < n && !ret; k++) {
		if (which[k] >= events_list(events)->n)
			ret = -EINVAL;
		else if (i->events[which[k]].on != on)
			changed[nr++] = which[k];
	}
	if (!ret) {
		states_set(i, changed, nr, on);
		ret = events_apply(events);
		if (ret && on) { /* all or none */
			states_set(i, changed, nr, false);
			error = events_apply(events);
			ret = ret ? ret : error;
		}
	}
	events_unlock(events);
	free(changed);
	return ret;
}
