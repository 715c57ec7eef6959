// SPDX-License-Identifier: GPL-2.0-or-later
/* hit.c - a hit as the record that the payload would have made of it. */
#include "tracer/instance/instance.h"
#include "tracer/payload/record.h"

void instance_hit_record(struct trace *t, const struct machine_hit *hit, bool is_exit,
			 struct payload_record *r)
{
	struct guest_state st;

	record_of_hit(&t->guest, hit, is_exit ? PAYLOAD_EXIT : PAYLOAD_FUNCTION, r, &st);
	if (guest_read(&t->guest, hit->regs->rsp, &r->parent, sizeof(r->parent)))
		r->parent = 0;
	instances_note_task(t, &st);
	atomic_store_explicit(&t->at_ip[hit->vcpu], hit->va, memory_order_relaxed);
}
