/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * filter.h - which calls function_graph records: what set_graph_function, set_graph_notrace,
 * max_graph_depth, tracing_thresh and the option funcgraph-irqs ask for.
 *
 * As trace_graph_entry() and trace_graph_return() of kernel/trace/trace_functions_graph.c, 6.1,
 * decide it, and ftrace_graph_ignore_func() of trace.h. What the kernel keeps in bits of the task
 * is here in flags of each open call, and comes to those inside of it from the one around them.
 *
 * Knows nothing of a trace. A filter is changed by one thread while nobody asks it.
 */
#ifndef HVTRACE_TRACER_GRAPH_FILTER_H
#define HVTRACE_TRACER_GRAPH_FILTER_H

#include <stdbool.h>
#include <stdint.h>

#include "tracer/filter/func-set.h"

struct graph_names;

/* All zero: every call is recorded. */
struct graph_filter {
	struct graph_names *names; /* functions that one of the files names; NULL: none */
	bool only_named;    /* set_graph_function: nothing but its functions and what they call */
	bool no_irqs;	    /* nothing that hard interrupts call, unless it is named */
	uint32_t max_depth; /* calls that are deeper are left out; 0: none */
	uint64_t thresh_ns; /* only returns, of calls that took so long; 0: all */
	uint64_t max_ns;    /* likewise, and no longer; 0: any time */
};

void graph_filter_exit(struct graph_filter *f);
/*
 * What set_graph_function and set_graph_notrace hold now; NULL or empty: everything, and nothing.
 * The sets may go. 0, or -ENOMEM: the filter stays as it was.
 */
int graph_filter_name(struct graph_filter *f, const struct func_set *function,
		      const struct func_set *notrace);

/* What an open call is. */
enum graph_call {
	GRAPH_CALL_SHOWN = 1 << 0,  /* it is recorded */
	GRAPH_CALL_NAMED = 1 << 1,  /* it, or one around it, is of set_graph_function */
	GRAPH_CALL_HUSHED = 1 << 2, /* it, or one around it, is of set_graph_notrace */
	GRAPH_CALL_IN_IRQ = 1 << 3, /* the named one was called in a hard interrupt */
};

/* Nothing is asked for: a call in others that are only recorded is recorded. */
static inline bool graph_filter_is_none(const struct graph_filter *f)
{
	return !f->names && !f->only_named && !f->no_irqs && !f->max_depth;
}

/*
 * A call of the function whose site is at addr. `outer` are the flags of the open call of the same
 * task around it, 0 if there is none, and depth the number of open ones: calls for which this gave
 * something. What it gives belongs to the call until it returns; 0: take it as not made.
 */
uint8_t graph_filter_call(const struct graph_filter *f, uint64_t addr, uint32_t depth, bool hardirq,
			  uint8_t outer);

/* Whether the entry of a call with these flags is recorded. */
static inline bool graph_filter_enters(const struct graph_filter *f, uint8_t call)
{
	return call & GRAPH_CALL_SHOWN && !f->thresh_ns && !f->max_ns;
}

/* Whether its return is, ns after its entry. */
static inline bool graph_filter_leaves(const struct graph_filter *f, uint8_t call, uint64_t ns)
{
	return call & GRAPH_CALL_SHOWN && ns >= f->thresh_ns && (!f->max_ns || ns <= f->max_ns);
}

#endif
