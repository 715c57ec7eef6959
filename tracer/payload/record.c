// SPDX-License-Identifier: GPL-2.0-or-later
/* record.c - records that the host makes in the payload's place. */
#include "tracer/payload/record.h"
#include "tracer/guest/guest.h"

#define RFLAGS_IF (1u << 9)

void record_of_hit(struct guest_kernel *g, const struct machine_hit *hit, unsigned int type,
		   struct payload_record *r, struct guest_state *st)
{
	uint32_t count = guest_preempt_count(g, hit->vcpu);

	guest_get_state(g, hit->vcpu, hit->regs, st);
	*r = (struct payload_record){
		.tsc = hit->tsc,
		.ip = (uint32_t)hit->va,
		.sp = (uint32_t)hit->regs->rsp,
		.task = ((uint32_t)st->pid & RECORD_PID_MASK) | (uint32_t)(st->preempt_count >> 4)
									<< RECORD_MIGRATE_SHIFT,
		.state = (count & STATE_COUNT_MASK) | type << STATE_TYPE_SHIFT |
			 (hit->regs->rflags & RFLAGS_IF ? 0 : STATE_IRQS_OFF) |
			 (st->flags & TRACE_FLAG_NEED_RESCHED ? STATE_NEED_RESCHED : 0),
	};
}
