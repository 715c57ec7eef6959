/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * graph.h - what function_graph, or the function profiler, makes of the records of calls and
 * returns.
 *
 * A task may enter a function on one vCPU and leave it on another, so the records of all vCPUs are
 * brought into one order before they are paired (graph/pairing.h). All records that may come before
 * a given one have been collected when every staging ring has been emptied once more after it was:
 * whatever a task has recorded before it moved was in its ring then.
 */
#ifndef HVTRACE_TRACER_RECORD_GRAPH_H
#define HVTRACE_TRACER_RECORD_GRAPH_H

#include "tracer/core/trace.h"
#include "tracer/graph/pairing.h"

struct graph;
struct event_stack;

/* The probes are known. */
void graph_learn(struct graph *g);
/*
 * While it matters when tasks are switched (sleep-time is off): the probe whose record tells of
 * each switch. UINT32_MAX: it does not matter, or the kernel has no such function.
 */
uint32_t graph_switch_probe(const struct trace *t);

struct graph *graph_new(struct trace *t); /* NULL: no memory */
void graph_free(struct graph *g);	  /* NULL is allowed */

/*
 * Collected records of one vCPU, of whatever kind; `lost`: some are missing before the first. The
 * vCPU's lock is held.
 */
void graph_feed(struct graph *g, unsigned int vcpu, const struct payload_record *r, size_t n,
		bool lost);
/*
 * How many of one vCPU's next n records may be fed; 0: so much waits to be written that they had
 * better stay where they are. The vCPU's lock is held.
 */
size_t graph_room(const struct graph *g, unsigned int vcpu, size_t n);
/*
 * One record of an event of the top level's, with its data (r->event_len bytes) and perhaps the
 * stack, behind those that have been fed. The vCPU's lock is held. False: there is no room for it.
 */
bool graph_feed_event(struct graph *g, unsigned int vcpu, const struct payload_record *r,
		      uint32_t event, const void *data, const struct event_stack *stack);
/*
 * Every staging ring has been emptied since the last time, but for those with a bit in `held`:
 * write what is certain by now, up to `max` records of it; with `all`, whatever is there. True:
 * there is more that is certain. The locks of all vCPUs are held.
 */
bool graph_merge(struct graph *g, bool all, size_t max, uint64_t held);
/* A function was called by a hit, or its return come to; the vCPU's lock is held. */
void graph_hit(struct graph *g, const struct machine_hit *hit, bool is_exit);
/* What is later than that TSC waits, until it is UINT64_MAX. Likewise. */
void graph_hold(struct graph *g, uint64_t tsc);
/* Calls that are open now are not to be continued. The locks of all vCPUs are held. */
void graph_forget(struct graph *g);

void graph_get_counts(struct graph *g, struct pairing_counts *counts);

#endif
