// SPDX-License-Identifier: GPL-2.0-or-later
/* instance-events.c - which trace events an instance wants, and what it makes of their records. */
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

bool instance_takes_event(const struct instance *i, unsigned int vcpu, uint32_t event,
			  const struct payload_record *r)
{
	return i->on && i->events && i->cpumask >> vcpu & 1 && i->events[event].on &&
	       pid_filter_traces(&i->event_pids, record_pid(r));
}

void instance_collect_event(struct instance *i, unsigned int vcpu, const struct payload_record *r,
			    uint32_t event, const void *data, uint64_t ts)
{
	const struct events *events = i->t->trace_events;
	const struct guestsym_event *ev = &events_list(events)->v[event];
	struct trace_entry *e;

	if (r->event_len < sizeof(*e))
		return; /* no probe makes such a one */
	if (i == i->t->instances ? !trace_admit(i->t, 1) : atomic_load(&i->t->done))
		return;
	e = ring_reserve(i->ring[vcpu], r->event_len, ts);
	if (!e)
		return;
	memcpy(e, data, r->event_len);
	record_entry(r, ev->id, e);
	if (events_dec_preempt(events) && e->preempt_count & 0xf)
		e->preempt_count--;
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

/* The events' lock is held. */
static int states_get(struct instance *i, size_t n)
{
	struct event_state *states;

	if (i->events)
		return 0;
	states = calloc(n ? n : 1, sizeof(*states));
	if (!states)
		return -ENOMEM;
	__atomic_store_n(&i->events, states, __ATOMIC_RELEASE);
	return 0;
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
	ret = states_get(i, events_list(events)->n);
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
