/* SPDX-License-Identifier: GPL-2.0-or-later */
/* record.h - what a record of the payload says, as entries of the ring buffer have it. */
#ifndef HVTRACE_TRACER_PAYLOAD_RECORD_H
#define HVTRACE_TRACER_PAYLOAD_RECORD_H

#include "tracer/guest/preempt.h"
#include "tracer/payload/payload.h"
#include "tracer/ring/entry.h"

/* What the low halves of kernel text addresses lack. */
#define KERNEL_HALF UINT64_C(0xffffffff00000000)

static inline unsigned int record_type(const struct payload_record *r)
{
	return r->state >> STATE_TYPE_SHIFT & STATE_TYPE_MASK;
}

static inline int32_t record_pid(const struct payload_record *r)
{
	return (int32_t)(r->task & RECORD_PID_MASK);
}

static inline uint8_t record_flags(const struct payload_record *r)
{
	return preempt_flags(r->state) | (r->state & STATE_IRQS_OFF ? TRACE_FLAG_IRQS_OFF : 0) |
	       (r->state & STATE_NEED_RESCHED ? TRACE_FLAG_NEED_RESCHED : 0);
}

static inline void record_entry(const struct payload_record *r, uint16_t type,
				struct trace_entry *ent)
{
	ent->type = type;
	ent->flags = record_flags(r);
	ent->preempt_count = preempt_nibble(r->state & PREEMPT_MASK) |
			     (uint8_t)(preempt_nibble(r->task >> RECORD_MIGRATE_SHIFT) << 4);
	ent->pid = record_pid(r);
}

/* Most records are made in the same state, by the same task, as the one before. */
struct record_memo {
	bool valid;
	uint32_t state, task;
	struct trace_entry ent;
};

/* As record_entry(). All zero, *memo is of no record. */
static inline void record_entry_again(struct record_memo *memo, const struct payload_record *r,
				      uint16_t type, struct trace_entry *ent)
{
	uint32_t state = r->state & ~((uint32_t)STATE_TYPE_MASK << STATE_TYPE_SHIFT);

	if (!memo->valid || memo->state != state || memo->task != r->task) {
		record_entry(r, type, &memo->ent);
		memo->state = state;
		memo->task = r->task;
		memo->valid = true;
	}
	*ent = memo->ent;
	ent->type = type;
}

struct guest_state;
struct guest_kernel;
struct machine_hit;

/* What the payload would have recorded of a hit, and the state that it says so by. */
void record_of_hit(struct guest_kernel *g, const struct machine_hit *hit, unsigned int type,
		   struct payload_record *r, struct guest_state *st);

#endif
