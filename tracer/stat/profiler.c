// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * profiler.c - the function profiler of a trace: function_profile_enabled and trace_stat/.
 *
 * As in the kernel it takes the functions and tasks that the top level's filters select, whether or
 * not anything is recorded; and there is one user of the graph of calls at a time, so it is either
 * the profiler or the tracer function_graph.
 */
#include "tracer/stat/profiler.h"
#include "tracer/graph/profile.h"
#include "tracer/instance/instance.h"
#include "tracer/output/output.h"
#include "tracer/probe/pieces.h"
#include "tracer/probe/returns/returns.h"
#include "tracer/probe/trampoline/trampoline.h"
#include "tracer/record/graph.h"
#include "tracer/record/record.h"
#include "tracer/stat/files.h"

#include <errno.h>

static int profiles_begin(struct trace *t)
{
	for (unsigned int v = 0; v < t->vcpus; v++) {
		if (!t->profile[v])
			t->profile[v] = profile_new();
		else
			profile_reset(t->profile[v]);
		if (!t->profile[v])
			return -ENOMEM;
	}
	graph_forget(t->graph);
	return 0;
}

/* t->change is held, the machine is paused. */
static int profiler_switch(struct trace *t, bool on)
{
	int ret = 0;

	if (on && t->instances->tracer->exits)
		return -EBUSY;
	if (on && t->placed && !returns_known(t))
		return -EOPNOTSUPP;
	trace_writers_stop(t);
	record_drain_all(t); /* what was called before goes by what was set then */
	if (on)
		ret = profiles_begin(t);
	if (!ret)
		atomic_store(&t->profiling, on);
	trace_writers_go(t);
	return ret ? ret : selection_patch(t);
}

bool trace_profiles(struct trace *t)
{
	return atomic_load(&t->profiling);
}

int trace_set_profile(struct trace *t, bool on)
{
	int ret = 0;

	trace_change_begin(t);
	if (on != t->profiling)
		ret = profiler_switch(t, on);
	trace_change_end(t);
	return pieces_finish(t, ret);
}

static void print_name(void *arg, uint64_t addr, struct text *out)
{
	const struct output_config *cfg = arg;
	struct output_symbol sym = {0};

	if (cfg->symbol(cfg->arg, addr, &sym))
		text_puts(out, sym.name);
}

void trace_print_profile(struct trace *t, unsigned int vcpu, struct text *out)
{
	struct output_config cfg;

	instance_output_config(t->instances, &cfg);
	trace_writers_stop(t);
	if (t->profiling)
		record_drain_all(t);
	profile_print(t->profile[vcpu], t->thresh, print_name, &cfg, out);
	trace_writers_go(t);
}

void profiler_free(struct trace *t)
{
	for (unsigned int v = 0; v < t->vcpus; v++)
		profile_free(t->profile[v]);
}
