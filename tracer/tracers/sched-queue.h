/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sched-queue.h - brings what the scheduler did on all vCPUs into one order.
 *
 * Records are collected one vCPU after the other; as with ring/horizon.h, what is not later than
 * the latest record at the end of the pass before is complete at the end of a pass.
 */
#ifndef HVTRACE_TRACER_TRACERS_SCHED_QUEUE_H
#define HVTRACE_TRACER_TRACERS_SCHED_QUEUE_H

#include "tracer/tracers/sched-records.h"

#define SCHED_QUEUE_MAX 65536 /* records of one vCPU */

struct sched_queue {
	struct sched_fifo {
		struct sched_record *v;
		size_t from, n, room;
		uint64_t last; /* time of the one added last */
	} vcpu[MACHINE_MAX_VCPUS];
	/* Up to when all is there; the latest there is, and was when the last pass ended. */
	uint64_t certain, latest, before;
};

void sched_queue_exit(struct sched_queue *q); /* a zeroed one is empty */
void sched_queue_clear(struct sched_queue *q);
/* Those of one vCPU come in their order. -ENOMEM: there are too many, and it is left out. */
int sched_queue_add(struct sched_queue *q, const struct sched_record *r);
/* A pass over all vCPUs has ended; bit n of behind: but not all of vCPU n could be had. */
void sched_queue_pass(struct sched_queue *q, uint64_t behind);
/* The next of those that are certain. False: none now. */
bool sched_queue_next(struct sched_queue *q, struct sched_record *r);

#endif
