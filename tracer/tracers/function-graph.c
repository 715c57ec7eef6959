// SPDX-License-Identifier: GPL-2.0-or-later
/* function-graph.c - the function_graph tracer: the call and the return of each function. */
#include "tracer/graph.h"
#include "tracer/instance.h"
#include "tracer/preempt.h"

#define RFLAGS_IF (1u << 9)

/* The record that a payload would have made. */
static void record_make(struct trace *t, const struct machine_hit *hit, unsigned int type,
			struct payload_record *r, struct guest_state *st)
{
	uint32_t count = guest_preempt_count(&t->guest, hit->vcpu);
	uint32_t parent = 0;

	guest_get_state(&t->guest, hit->vcpu, hit->regs, st);
	if (guest_read(&t->guest, hit->regs->rsp, &parent, sizeof(parent)))
		parent = 0;
	*r = (struct payload_record){
		.tsc = hit->tsc,
		.ip = (uint32_t)hit->va,
		.parent = parent,
		.sp = (uint32_t)hit->regs->rsp,
		.task = ((uint32_t)st->pid & RECORD_PID_MASK) | (uint32_t)(st->preempt_count >> 4)
									<< RECORD_MIGRATE_SHIFT,
		.state = (count & STATE_COUNT_MASK) | type << STATE_TYPE_SHIFT |
			 (hit->regs->rflags & RFLAGS_IF ? 0 : STATE_IRQS_OFF) |
			 (st->flags & TRACE_FLAG_NEED_RESCHED ? STATE_NEED_RESCHED : 0),
	};
}

/* Where vCPUs record by themselves too, it takes its place among theirs. */
static void record_take(struct instance *i, const struct machine_hit *hit, unsigned int type)
{
	struct trace *t = i->t;
	struct payload_record r;
	struct guest_state st;

	record_make(t, hit, type, &r, &st);
	if (i->options & OUTPUT_RECORD_CMD)
		comms_note(t->comms, st.pid, st.tgid, st.comm);
	if (t->tramp)
		graph_feed(t->graph, hit->vcpu, &r, 1, false);
	else
		graph_now(t->graph, hit->vcpu, &r);
	atomic_store_explicit(&t->at_ip[hit->vcpu], hit->va, memory_order_relaxed);
}

static void graph_hit(struct instance *i, const struct probe *p, const struct machine_hit *hit)
{
	(void)p;
	record_take(i, hit, PAYLOAD_FUNCTION);
}

static void graph_hit_exit(struct instance *i, const struct machine_hit *hit)
{
	record_take(i, hit, PAYLOAD_EXIT);
}

const struct tracer_ops function_graph_tracer_ops = {
	.name = "function_graph",
	.desc = "call and return of each selected function, and what it took",
	.functions = true,
	.exits = true,
	.hit = graph_hit,
	.hit_exit = graph_hit_exit,
};
