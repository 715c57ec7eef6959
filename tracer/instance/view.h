/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * view.h - a record of an event as an instance's filters and triggers look at it: complete,
 * as its ring buffer would have it.
 */
#ifndef HVTRACE_TRACER_INSTANCE_VIEW_H
#define HVTRACE_TRACER_INSTANCE_VIEW_H

#include "tracer/events/filter/data.h"
#include "tracer/guest/comms.h"
#include "tracer/instance/instance.h"
#include "tracer/payload/event-ring.h"
#include "tracer/ring/entry.h"

/* What is to be done with a record. */
enum event_use {
	EVENT_USE_KEEP = 1 << 0,     /* the instance has the event on, or a trigger at it */
	EVENT_USE_TRACER = 1 << 1,   /* its tracer works on it */
	EVENT_USE_INJECTED = 1 << 2, /* and it is no record of the guest's */
};

#define EVENT_VIEW_DEPTH 4 /* records that lead to records are no endless chain */

struct event_view {
	struct instance *i;
	const struct event_stack *stack; /* NULL: it was not looked at */
	/* What may have a copy of the stack: event_ring_copy(); NULL: it has none. */
	const struct event_ring *er;
	const struct payload_record *r;
	struct event_data data; /* its arg is this view */
	uint64_t tsc;		/* of the guest, when it was made */
	unsigned int uses;	/* enum event_use */
	bool numbered;		/* data.time is the number of a clock that counts */
	unsigned int depth;	/* so many records led to it, each written because of the other */
	char comm[COMM_LEN];
};

/* Of vCPU cpu, by the instance's clock; what is pointed to outlives the view. */
void event_view_init(struct event_view *v, struct instance *i, unsigned int cpu, const void *record,
		     size_t len, uint64_t ts, const struct event_stack *stack);
/* Find out its task's name, which only filters and triggers look at. */
void event_view_name(struct event_view *v);
/*
 * What a record of `event` begins with that is written because of this one; the ring buffer's being
 * in use already counts as so much in preempt_count.
 */
void event_view_entry(const struct event_view *v, uint32_t event, unsigned int preempt_count,
		      struct trace_entry *e);
/* The stack of it goes into the ring, behind what is there; the vCPU's lock is held. */
void event_view_record_stack(const struct event_view *v);
/* That of its task's user mode, likewise. */
void event_view_record_user_stack(const struct event_view *v);

/*
 * The stack of an event that was recorded with a copy of it (tracer_ops.stacks): from what called
 * the event's own probe on, innermost first. How many addresses, 0: there is no copy.
 */
unsigned int event_view_unwind(const struct event_view *v, uint64_t *ips, unsigned int max);

/* That of such a copy, from the address ip on, whose stack pointer is behind the first word. */
unsigned int stack_copy_unwind(struct trace *t, uint64_t ip, const struct payload_stack *copy,
			       uint64_t *ips, unsigned int max);

/* For event_filter_new() and the like. */
void instance_event_kernel(struct instance *i, struct event_kernel *kernel);

#endif
