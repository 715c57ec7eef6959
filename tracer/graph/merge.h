/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * merge.h - the records of several vCPUs in the order of their times.
 *
 * Where some of a vCPU's are missing, it may have run any task, up to its next record: two records
 * of our own tell from when to when that is.
 */
#ifndef HVTRACE_TRACER_GRAPH_MERGE_H
#define HVTRACE_TRACER_GRAPH_MERGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tracer/payload/payload.h"
#include "vmm/machine.h"

/* Records of one vCPU, in the order of its calls. */
struct graph_queue {
	struct payload_record *v; /* a circle */
	size_t next, nr;
	size_t used;	 /* of v: what is behind has no memory */
	uint64_t latest; /* TSC of those that are queued */
	uint64_t last;	 /* of the one that was queued last */
	/* Some are missing and none has come since: for so many more runs that is to be so. */
	unsigned int losing;
};

struct graph_merge {
	unsigned int vcpus; /* how many there are: its owner sets it, the rest is 0 at first */
	/*
	 * Its owner's, too: what most bursts take gets its memory with a vCPU's first records.
	 * While it comes by faults nothing is collected.
	 */
	bool prefault;
	/*
	 * Likewise: vCPUs wait for room. All queues together are short then, for it may be the
	 * others' records that have to go before there is room in one.
	 */
	bool waits;
	struct graph_queue queue[MACHINE_MAX_VCPUS];
	uint64_t horizon; /* the latest TSC of all that had been queued by the last time */
	uint64_t hold;	  /* its owner's: what is later waits in any case; 0: nothing does */
};

/*
 * Types of records of our own, which the guest cannot make: from here on some of this vCPU's are
 * missing; up to here; record/graph.c's.
 */
#define GRAPH_LOST  STATE_TYPE_MASK
#define GRAPH_FOUND (STATE_TYPE_MASK - 2)
#define GRAPH_EVENT (STATE_TYPE_MASK - 1)

/* Some of this vCPU's are missing before what comes next. False: there is no room. */
bool graph_merge_lost(struct graph_merge *m, unsigned int vcpu);
/* Those of calls and returns, no others. False: there is no room, none is queued. */
bool graph_merge_add(struct graph_merge *m, unsigned int vcpu, const struct payload_record *r,
		     size_t n);
/*
 * Whether the vCPU has so much in its queue that n more had better wait. There is room for a
 * staging ring all the same, for those who cannot wait.
 */
bool graph_merge_is_full(const struct graph_merge *m, unsigned int vcpu, size_t n);
/* One of our own. */
bool graph_merge_add_own(struct graph_merge *m, unsigned int vcpu, const struct payload_record *r);
/* Some records of one vCPU, which go away afterwards. */
typedef void graph_merge_fn(void *arg, unsigned int vcpu, const struct payload_record *r, size_t n);
/*
 * Hand up to `max` records over that nothing can come before any more (record/graph.h), or, with
 * `all`, of whatever there is: those of one vCPU in its order, those of different ones by their
 * times. A bit of `held` for each vCPU of which more waits to be added: nothing that is later than
 * its last one is handed over, nothing at all where none of it is queued. True: there were more.
 */
bool graph_merge_run(struct graph_merge *m, bool all, size_t max, uint64_t held, graph_merge_fn *fn,
		     void *arg);
void graph_merge_exit(struct graph_merge *m);

#endif
