// SPDX-License-Identifier: GPL-2.0-or-later
/* max-graph.c - see max-graph.h */
#include "tracer/graph/max-graph.h"
#include "tracer/payload/record.h"

#include <errno.h>
#include <stdlib.h>

struct making {
	struct max_graph *g;
	const struct max_graph_part *part;
	struct graph_filter filter;
	const struct logged_call *now;
	bool failed;
};

static struct max_graph_entry *entry_add(struct making *m, const struct payload_record *r,
					 uint16_t type, size_t len)
{
	struct max_graph *g = m->g;
	struct max_graph_entry *e;

	if (g->nr == g->room) {
		size_t room = g->room ? 2 * g->room : 256;

		e = realloc(g->v, room * sizeof(*e));
		if (!e) {
			m->failed = true;
			return NULL;
		}
		g->v = e;
		g->room = room;
	}
	e = &g->v[g->nr++];
	*e = (struct max_graph_entry){.ts = m->now->ts, .len = len};
	record_entry(r, type, &e->ent);
	return e;
}

/* The kernel takes the times of calls from its local clock, whatever that of the trace is. */
static uint64_t time_now(const struct making *m)
{
	uint64_t khz = m->part->tsc_khz, tsc = m->now->r.tsc;

	return khz ? tsc / khz * 1000000 + tsc % khz * 1000000 / khz : m->now->ts;
}

static enum pairing_verdict call_begins(void *arg, unsigned int vcpu,
					const struct payload_record *r, struct pairing_call *call,
					const struct pairing_call *outer)
{
	struct making *m = arg;
	uint64_t func = KERNEL_HALF | r->ip;
	struct max_graph_entry *e;

	(void)vcpu;
	call->time = time_now(m);
	call->flags =
		graph_filter_call(&m->filter, func, call->depth, false, outer ? outer->flags : 0);
	if (!call->flags)
		return PAIRING_IGNORE;
	if (!graph_filter_enters(&m->filter, call->flags))
		return PAIRING_KEEP;
	e = entry_add(m, r, TRACE_GRAPH_ENT, sizeof(e->call));
	if (e) {
		e->call.func = func;
		e->call.depth = call->depth;
	}
	return PAIRING_KEEP;
}

static void call_ends(void *arg, unsigned int vcpu, const struct payload_record *r,
		      const struct pairing_call *call, struct pairing_call *outer, uint32_t overrun)
{
	struct making *m = arg;
	uint64_t now = time_now(m);
	struct max_graph_entry *e;

	(void)vcpu;
	(void)outer;
	if (!graph_filter_leaves(&m->filter, call->flags, 0))
		return;
	e = entry_add(m, r, TRACE_GRAPH_RET, sizeof(e->ret));
	if (!e)
		return;
	e->ret.func = KERNEL_HALF | call->ip;
	e->ret.depth = call->depth;
	e->ret.overrun = overrun;
	e->ret.calltime = call->time;
	/* A trap's time may differ a little from that of a payload. */
	e->ret.rettime = now > call->time ? now : call->time;
}

static const struct pairing_ops max_graph_pairing_ops = {
	.entry = call_begins,
	.exit = call_ends,
};

static bool is_part(const struct max_graph_part *part, uint64_t ts)
{
	return ts < part->to && (!part->takes || part->takes(part->arg, part->vcpu, ts));
}

int max_graph_make(struct max_graph *g, const struct max_graph_part *part)
{
	struct making m = {.g = g, .part = part, .filter = *part->filter};
	struct call_log_place at = call_log_since(part->log, part->vcpu, part->from);
	struct pairing *p = pairing_new(&max_graph_pairing_ops, &m);

	if (!p)
		return -ENOMEM;
	/* Those two are of the tracer function_graph: a threshold is one of windows here. */
	m.filter.thresh_ns = 0;
	m.filter.no_irqs = false;
	if (part->stacks)
		pairing_set_stacks(p, part->stacks);
	while ((m.now = call_log_next(part->log, &at)))
		if (is_part(part, m.now->ts))
			pairing_record(p, part->vcpu, &m.now->r);
	pairing_free(p);
	return m.failed ? -ENOMEM : 0;
}

void max_graph_free(struct max_graph *g)
{
	free(g->v);
	*g = (struct max_graph){0};
}
