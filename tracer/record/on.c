// SPDX-License-Identifier: GPL-2.0-or-later
/* on.c - recording turned on and off, and what is too short to be recorded. */
#include "tracer/collect/collect.h"
#include "tracer/instance/instance.h"
#include "tracer/record/files.h"
#include "tracer/record/graph.h"
#include "tracer/record/record.h"

void record_forget_calls(struct trace *t)
{
	if (!t->profiling)
		graph_forget(t->graph);
}

bool instance_is_on(struct instance *i)
{
	return atomic_load(&i->on);
}

void record_turn(struct instance *i, bool on)
{
	if (on == i->on)
		return;
	/* All that there was has come, so the second pass is certain of it. */
	for (int pass = 0; !on && i->tracer->pass && pass < 2; pass++)
		i->tracer->pass(i, 0);
	if (on)
		atomic_store(&i->until, UINT64_MAX);
	if (on && i->tracer->start)
		i->tracer->start(i);
	atomic_store(&i->on, on);
}

void record_turned(struct instance *i)
{
	trace_writers_stop(i->t);
	if (!instance_collects(i))
		record_forget_calls(i->t); /* calls may end while nobody looks */
	if (!i->on)
		horizon_end(&i->horizon, i->ring, i->t->vcpus);
	trace_writers_go(i->t);
	payload_control(i->t);
}

void instance_set_on(struct instance *i, bool on)
{
	trace_writers_stop(i->t);
	record_drain_all(i->t);
	if (on != i->on)
		record_forget_calls(i->t);
	record_turn(i, on);
	trace_writers_go(i->t);
	record_turned(i);
}

uint64_t trace_thresh(struct trace *t)
{
	return t->thresh;
}

void trace_set_thresh(struct trace *t, uint64_t ns)
{
	trace_writers_stop(t);
	t->thresh = ns;
	t->instances->graph.thresh_ns = ns;
	trace_writers_go(t);
	payload_control(t);
}
