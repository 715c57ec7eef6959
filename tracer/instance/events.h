/* SPDX-License-Identifier: GPL-2.0-or-later */
/* events.h - the trace events that an instance wants, and what it makes of their records. */
#ifndef HVTRACE_TRACER_INSTANCE_EVENTS_H
#define HVTRACE_TRACER_INSTANCE_EVENTS_H

#include "tracer/events/events.h"

struct event_filter;
struct event_triggers;
struct event_ring;
struct event_stack;
struct event_view;

/*
 * One of the list's events in one instance. Changed with all writers stopped, and all but
 * `soft` with the events' lock held as well.
 */
struct event_state {
	bool on;	      /* 1 was written to its file `enable` */
	unsigned int soft;    /* triggers and commands that need its records, or may switch it */
	bool soft_off;	      /* its records are made, but not kept */
	unsigned int tracers; /* that work on its records: the instance's, and one on its way */
	unsigned int copies;  /* of these, how many want its stack */
	unsigned int probes;  /* event probes at it that are wanted */
	bool attached;	      /* it is one of these, at another event */
	struct event_filter *filter;	 /* NULL: none was written */
	struct event_triggers *triggers; /* likewise */
};

/* Its states, one for each event of the list, once any was asked for. */
static inline bool event_wanted(const struct event_state *s)
{
	return s->on || __atomic_load_n(&s->soft, __ATOMIC_RELAXED) || s->tracers;
}

/* Its records are kept. */
static inline bool event_kept(const struct event_state *s)
{
	return (s->on || __atomic_load_n(&s->soft, __ATOMIC_RELAXED)) &&
	       !__atomic_load_n(&s->soft_off, __ATOMIC_RELAXED);
}

/*
 * A record of an event that vCPU `vcpu` has made, with its data: into the instance's ring if it
 * wants it; ts is what its clock says, stack may be NULL, and so may er, where the record may have
 * a copy of the stack. The vCPU's lock is held.
 */
void instance_collect_event(struct instance *i, unsigned int vcpu, const struct payload_record *r,
			    uint32_t event, const void *data, const struct event_stack *stack,
			    const struct event_ring *er, uint64_t ts);
/* The same for a record that is complete, and which the pid filter takes. */
void instance_take_event(struct instance *i, uint32_t event, struct event_view *view);
/* The same for one that need not, or has waited for its turn (order.h). */
void instance_put_event(struct instance *i, uint32_t event, struct event_view *view);
/*
 * In the place of an event's index: ftrace:print, which is there whether or not anyone wants it.
 * Its record is without the end of the line, which triggers do not see, and terminated.
 */
#define EVENT_OF_MARK (UINT32_MAX - 2)

/* Whether it wants any records of the event from that vCPU. */
bool instance_takes_event(const struct instance *i, unsigned int vcpu, uint32_t event);
/* Whether it has any on. */
bool instance_wants_events(const struct instance *i);
/* Its states are there from now on; the events' lock is held, and they have been read. */
int instance_events_get(struct instance *i);
/* Some of them have come to be wanted, or are not any more: with all writers stopped. */
void instance_count_events(struct instance *i);
/* The event is no more: what was said about it is not for the next one. With all writers stopped.
 */
void instances_forget_event(struct trace *t, uint32_t event);
/*
 * A trigger or a command may turn it on and off from now on, or one does no more; with all writers
 * stopped, then events_apply().
 */
void event_soft_mode(struct instance *i, struct event_state *s, bool on);
/* Whether it looks at the stacks of this event. */
bool instance_wants_event_stacks(const struct instance *i, uint32_t event);

#endif
