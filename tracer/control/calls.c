// SPDX-License-Identifier: GPL-2.0-or-later
/* calls.c - what function_graph has recorded, call by call: for reports. */
#include "tracer/control/files.h"
#include "tracer/instance/instance.h"
#include "tracer/output/output.h"
#include "tracer/ring/entry.h"
#include "tracer/ring/merge.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

static bool call_of(const struct ring_event *ev, struct instance_call *call)
{
	const struct trace_graph_entry *e = ev->data;
	const struct trace_graph_exit *x = ev->data;

	if (ev->len >= sizeof(*e) && e->ent.type == TRACE_GRAPH_ENT) {
		*call = (struct instance_call){
			.func = e->func, .pid = e->ent.pid, .depth = e->depth};
		return true;
	}
	if (ev->len < sizeof(*x) || x->ent.type != TRACE_GRAPH_RET)
		return false;
	*call = (struct instance_call){
		.func = x->func,
		.ns = x->rettime > x->calltime ? x->rettime - x->calltime : 0,
		.pid = x->ent.pid,
		.depth = x->depth,
		.returns = true,
	};
	return true;
}

int instance_each_call(struct instance *i, void (*fn)(void *arg, const struct instance_call *call),
		       void *arg)
{
	struct ring *ring[MACHINE_MAX_VCPUS];
	bool ns = i->clock->ns;
	struct instance_call call;
	struct ring_event ev;
	struct merge *m;
	unsigned int cpu;

	/* A snapshot swaps them. */
	for (unsigned int v = 0; v < MACHINE_MAX_VCPUS; v++)
		ring[v] = __atomic_load_n(&i->ring[v], __ATOMIC_RELAXED);
	m = merge_new(ring, i->t->vcpus, false);
	if (!m)
		return -ENOMEM;
	while (merge_next(m, &ev, &cpu)) {
		if (ev.len < sizeof(struct trace_entry) || !call_of(&ev, &call))
			continue;
		call.cpu = cpu;
		call.ts = ns ? ev.ts : 0;
		fn(arg, &call);
	}
	merge_free(m);
	return 0;
}

uint64_t instance_lost(struct instance *i)
{
	uint64_t lost = 0;

	for (unsigned int v = 0; v < i->t->vcpus; v++) {
		struct ring_stats st;

		ring_get_stats(__atomic_load_n(&i->ring[v], __ATOMIC_RELAXED), &st);
		lost += st.overrun + st.dropped;
	}
	return lost;
}

uint64_t instance_complete_since(struct instance *i)
{
	uint64_t since = 0;

	for (unsigned int v = 0; v < i->t->vcpus; v++) {
		struct ring_stats st;

		ring_get_stats(__atomic_load_n(&i->ring[v], __ATOMIC_RELAXED), &st);
		if (st.overrun && st.oldest_ts > since)
			since = st.oldest_ts;
	}
	return since;
}

size_t trace_function_name(struct trace *t, uint64_t func, char *name, size_t len)
{
	struct output_symbol sym = {0};
	int n;

	if (!trace_find_symbol(t, func, &sym))
		n = snprintf(name, len, "0x%" PRIx64, func);
	else if (sym.module)
		n = snprintf(name, len, "%s [%s]", sym.name, sym.module);
	else
		n = snprintf(name, len, "%s", sym.name);
	return n < 0 ? 0 : (size_t)n < len ? (size_t)n : len - 1;
}

void trace_task_name(struct trace *t, int32_t pid, char comm[COMM_LEN])
{
	comms_find(t->comms, pid, comm);
}
