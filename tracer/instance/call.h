/* SPDX-License-Identifier: GPL-2.0-or-later */
/* call.h - the call of a function, from its record into a ring. */
#ifndef HVTRACE_TRACER_INSTANCE_CALL_H
#define HVTRACE_TRACER_INSTANCE_CALL_H

#include "tracer/instance/instance.h"
#include "tracer/payload/record.h"
#include "tracer/ring/put.h"

/* The entry of one call; memo as in record_entry_again(). Millions of a second may come by here. */
static inline __attribute__((always_inline)) void
instance_put_function(struct ring *ring, const struct payload_record *r, uint64_t ts,
		      struct record_memo *memo)
{
	struct trace_function_entry *e = ring_put_begin(ring, sizeof(*e), ts);

	if (!e)
		return;
	record_entry_again(memo, r, TRACE_FN, &e->ent);
	e->ip = KERNEL_HALF | r->ip;
	e->parent_ip = KERNEL_HALF | r->parent;
	ring_put_end(ring);
}

/*
 * One that is to be counted, and may wait for its turn: order.h. It goes into the ring if recording
 * is on then.
 */
void instance_take_call(struct instance *i, unsigned int vcpu, const struct payload_record *r,
			uint64_t ts);
void instance_admit_call(struct instance *i, unsigned int vcpu, const struct payload_record *r,
			 uint64_t ts);
/* The same as the first, but with func-no-repeats only what has to be said of it. */
void instance_put_call(struct instance *i, unsigned int vcpu, const struct payload_record *r,
		       uint64_t ts);

#endif
