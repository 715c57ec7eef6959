// SPDX-License-Identifier: GPL-2.0-or-later
/* function.c - the function tracer: one record for each call of a selected function. */
#include "tracer/instance/instance.h"
#include "tracer/ring/entry.h"
#include "tracer/tracers/tracers.h"

static void record(struct ring *ring, const struct trace_entry *ent, uint64_t ip,
		   uint64_t parent_ip, uint64_t ts)
{
	struct trace_function_entry *e = ring_reserve(ring, sizeof(*e), ts);

	if (!e)
		return;
	e->ent = *ent;
	e->ip = ip;
	e->parent_ip = parent_ip;
	ring_commit(ring);
}

static void function_hit(struct instance *i, const struct probe *p, const struct machine_hit *hit)
{
	struct repeats *repeats = &i->repeats[hit->vcpu];
	struct ring *ring = i->ring[hit->vcpu];
	struct trace *t = i->t;
	uint64_t ip = p->va + t->guest.slide, parent, ts;
	struct trace_entry ent;

	/* At the site, the function's first instruction, the return address is on top of the stack.
	 */
	if (guest_read(&t->guest, hit->regs->rsp, &parent, sizeof(parent)))
		parent = 0;
	if (!instance_describe(i, hit, TRACE_FN, &ent, &ts))
		return;
	atomic_store_explicit(&t->at_ip[hit->vcpu], ip, memory_order_relaxed);
	if (instance_function_option(i, OUTPUT_FUNC_NO_REPEATS)) {
		if (repeats_count(repeats, ip, parent, ts))
			return;
		repeats_end(repeats, ring, &ent, ip, parent, ts);
	}
	record(ring, &ent, ip, parent, ts);
	if (instance_function_option(i, OUTPUT_FUNC_STACK_TRACE))
		instance_record_stack(i, hit);
}

const struct tracer_ops function_tracer_ops = {
	.name = "function",
	.desc = "each call of each selected function",
	.functions = true,
	.own_options = true,
	.hit = function_hit,
};
