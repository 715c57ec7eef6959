/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * max-graph.h - what was called in the window of a latency, as the entries of a graph of calls.
 *
 * A call counts from its entry within the window on: as in the kernel (irqsoff_graph_entry() and
 * its like), one that was entered before is not known, and how deep the others are does not count
 * it. One that has not returned when the window is over has an entry only.
 */
#ifndef HVTRACE_TRACER_GRAPH_MAX_GRAPH_H
#define HVTRACE_TRACER_GRAPH_MAX_GRAPH_H

#include "tracer/graph/call-log.h"
#include "tracer/graph/filter.h"
#include "tracer/graph/pairing.h"
#include "tracer/ring/entry.h"

/* One vCPU's calls between two times. */
struct max_graph_part {
	const struct call_log *log;
	unsigned int vcpu;
	uint64_t from, to; /* without the latter */
	/* Whether what was recorded there then is part of it; NULL: all is. */
	bool (*takes)(const void *arg, unsigned int vcpu, uint64_t ts);
	const void *arg;
	const struct graph_filter *filter;   /* what it says of functions, and how deep */
	const struct pairing_stacks *stacks; /* NULL: nothing is known of them */
	uint64_t tsc_khz;		     /* 0: the log's times are nanoseconds */
};

struct max_graph_entry {
	uint64_t ts;
	size_t len;
	union {
		struct trace_entry ent;
		struct trace_graph_entry call;
		struct trace_graph_exit ret;
	};
};

/* Entries in the order of time. Starts out as all zero. */
struct max_graph {
	struct max_graph_entry *v;
	size_t nr, room;
};

/* 0, or -ENOMEM: some are missing. max_graph_free() in either case. */
int max_graph_make(struct max_graph *g, const struct max_graph_part *part);
void max_graph_free(struct max_graph *g);

#endif
