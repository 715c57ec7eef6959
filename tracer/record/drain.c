// SPDX-License-Identifier: GPL-2.0-or-later
/* drain.c - all that has been recorded up to now, into the buffers of instances. */
#include "tracer/collect/collect.h"
#include "tracer/instance/order.h"
#include "tracer/record/graph.h"
#include "tracer/record/record.h"

static void orders_flush(struct trace *t)
{
	for (struct instance *i = t->instances; i; i = i->next)
		instance_order_flush(i);
}

/* function_graph goes no further than to where all had been queued before it was last asked. */
void record_drain_vcpus(struct trace *t)
{
	for (int round = 0; round < 2; round++) {
		for (unsigned int v = 0; v < t->vcpus; v++)
			collect_drain(t, v);
		graph_merge(t->graph, false, SIZE_MAX, 0);
	}
}

void record_drain_all(struct trace *t)
{
	record_drain_vcpus(t);
	orders_flush(t);
}

static bool is_held(const struct instance *i)
{
	return i->ordered_for & ORDER_COMMANDS;
}

static bool any_is_held(const struct trace *t)
{
	for (const struct instance *i = t->instances; i; i = i->next)
		if (is_held(i))
			return true;
	return false;
}

bool record_hold(struct trace *t, uint64_t tsc)
{
	if (!any_is_held(t))
		return false;
	trace_writers_stop(t);
	if (is_held(t->instances))
		graph_hold(t->graph, tsc);
	record_drain_vcpus(t);
	for (struct instance *i = t->instances; i; i = i->next)
		if (is_held(i))
			instance_order_hold(i, tsc);
	trace_writers_go(t);
	return true;
}

/* Of all: the command may have been removed meanwhile. */
void record_release(struct trace *t)
{
	trace_writers_stop(t);
	graph_hold(t->graph, UINT64_MAX);
	for (struct instance *i = t->instances; i; i = i->next)
		instance_order_hold(i, UINT64_MAX);
	trace_writers_go(t);
}

/* --- what the collector asks (struct collector_ops) ------------------------------------------ */

void record_lost(struct trace *t, unsigned int vcpu)
{
	if (instance_pairs_calls(t->instances))
		graph_feed(t->graph, vcpu, NULL, 0, true);
}

size_t record_room(const struct trace *t, unsigned int vcpu, size_t n)
{
	return instance_pairs_calls(t->instances) ? graph_room(t->graph, vcpu, n) : n;
}

bool record_merges(const struct trace *t)
{
	return instance_pairs_calls(t->instances);
}

bool record_merge(struct trace *t, size_t max, uint64_t held)
{
	return graph_merge(t->graph, false, max, held);
}

void record_pass(struct trace *t, uint64_t behind, bool merged)
{
	bool moved = false;

	for (struct instance *i = t->instances; i; i = i->next) {
		bool exits = i->tracer->exits;

		instance_order_pass(i, behind);
		if (i->tracer->pass)
			i->tracer->pass(i, behind);
		if (!exits || merged)
			moved |= horizon_pass(&i->horizon, i->ring, t->vcpus, behind,
					      exits || i->order);
	}
	if (moved)
		trace_wake(t);
}

void record_end(struct trace *t)
{
	graph_merge(t->graph, true, SIZE_MAX, 0);
	orders_flush(t);
}

bool record_user_stacks(const struct trace *t)
{
	for (const struct instance *i = t->instances; i; i = i->next)
		if (i->options & OUTPUT_USER_STACKTRACE)
			return true;
	return false;
}
