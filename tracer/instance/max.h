/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * max.h - the longest latency that a tracer has found (tracer_ops.max), and its trace:
 * kept in the buffers of the snapshot, which `trace` shows instead of those that are written.
 */
#ifndef HVTRACE_TRACER_INSTANCE_MAX_H
#define HVTRACE_TRACER_INSTANCE_MAX_H

#include "tracer/instance/instance.h"

/* An entry of the tracer's own. */
struct max_entry {
	unsigned int vcpu;
	uint64_t ts;
	const void *data;
	size_t len;
};

/*
 * What is kept of a latency: what the instance has recorded between the tracer's own entries at its
 * beginning and those at its end. Each of the two has at least one, in the order of time.
 */
struct max_window {
	const struct max_entry *first, *last;
	unsigned int nr_first, nr_last;
	/* Whether a function that was called on vCPU at ts is part of it; NULL: all are. */
	bool (*takes_call)(const void *arg, unsigned int vcpu, uint64_t ts);
	/* The same of whatever was recorded there. */
	bool (*takes)(const void *arg, unsigned int vcpu, uint64_t ts);
	const void *arg;
};

/* Whether a latency of so much is to be kept: tracing_max_latency, or tracing_thresh. */
bool instance_is_max(struct instance *i, uint64_t ns);
/* Of how many ticks of the guest's TSC such a latency is at least; some that are not may be. */
uint64_t instance_max_ticks(struct instance *i);
/* Keep what the instance has recorded in that time. The locks of all vCPUs are held. */
void instance_keep_max(struct instance *i, const struct max_window *w,
		       const struct output_latency *latency);
/*
 * What is to be recorded has changed: have room for the calls and returns of a graph (i->calls), if
 * there is to be one. With all writers stopped. 0 or -ENOMEM.
 */
int instance_max_calls(struct instance *i);
/* A function of such a graph was called, or its return come to, by a trap; the vCPU's lock is held.
 */
void instance_max_hit(struct instance *i, uint32_t probe, const struct machine_hit *hit);
/* What only the guest can tell of its task, while it is there; holding t->change at most. */
void instance_complete_max(struct instance *i);
/* How it is printed. */
void instance_max_config(struct instance *i, struct output_config *cfg);

#endif
