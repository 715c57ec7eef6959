// SPDX-License-Identifier: GPL-2.0-or-later
/* function.c - the function tracer: one record for each call of a selected function. */
#include "tracer/entry.h"
#include "tracer/instance.h"

static void function_hit(struct instance *i, const struct probe *p, const struct machine_hit *hit)
{
	struct trace_function_entry *e;
	struct trace *t = i->t;
	uint64_t parent;

	/* At the site, the function's first instruction, the return address is on top of the stack.
	 */
	if (guest_read(&t->guest, hit->regs->rsp, &parent, sizeof(parent)))
		parent = 0;
	e = trace_reserve(i, hit, TRACE_FN, sizeof(*e));
	if (!e)
		return;
	e->ip = p->va + t->guest.slide;
	e->parent_ip = parent;
	ring_commit(i->ring[hit->vcpu]);
	atomic_store_explicit(&t->at_ip[hit->vcpu], p->va + t->guest.slide, memory_order_relaxed);
}

const struct tracer_ops function_tracer_ops = {
	.name = "function",
	.desc = "each call of each selected function",
	.functions = true,
	.hit = function_hit,
};
