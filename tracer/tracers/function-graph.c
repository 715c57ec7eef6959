// SPDX-License-Identifier: GPL-2.0-or-later
/* function-graph.c - the function_graph tracer: record/graph.c makes what it records. */
#include "tracer/core/trace.h"
#include "tracer/tracers/tracers.h"

const struct tracer_ops function_graph_tracer_ops = {
	.name = "function_graph",
	.desc = "call and return of each selected function, and what it took",
	.functions = true,
	.exits = true,
};
