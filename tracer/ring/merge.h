/* SPDX-License-Identifier: GPL-2.0-or-later */
/* merge.h - the events of several rings as one sequence: by time, at equal times by CPU. */
#ifndef HVTRACE_TRACER_RING_MERGE_H
#define HVTRACE_TRACER_RING_MERGE_H

#include "tracer/ring/ring.h"

struct merge;

/*
 * Read rings[0..nr), one per CPU; NULL ones are left out. They outlive the merge. NULL when there
 * is no memory.
 *
 * One that consumes takes whatever there is. One that does not reads what is in the rings now, so
 * that it comes to an end while they are being written: what is written meanwhile comes after
 * merge_extend().
 */
struct merge *merge_new(struct ring *const *rings, unsigned int nr, bool consume);
void merge_free(struct merge *m); /* NULL is allowed */

/*
 * Go on to what is in the rings now. One that consumes does so by itself, but should be told when
 * other consumers have been at work for a while.
 *
 * Events that are later than `until` are as if there were none yet. When it was found out that none
 * up to then will be written any more before this is called, none comes late; see horizon.h.
 */
#define MERGE_ALL UINT64_MAX
void merge_extend(struct merge *m, uint64_t until);

/*
 * The next event and its CPU; ev->data stays until the next merge_next() or merge_take(). False:
 * none (now). As in the kernel, an event that is committed after a later one of another CPU was
 * returned comes late (with MERGE_ALL); here also one that comes to an empty ring while a few of
 * others are consumed.
 */
bool merge_next(struct merge *m, struct ring_event *ev, unsigned int *cpu);
/*
 * The event that merge_next() would return, without moving on; its data stays until the next call.
 * False: none (now).
 */
bool merge_peek(struct merge *m, struct ring_event *ev, unsigned int *cpu);
/* The same among the events of one CPU, whatever their time. */
bool merge_peek_cpu(struct merge *m, struct ring_event *ev, unsigned int cpu);
/* The next event of that CPU. After merge_peek() the same, unless another consumer was faster. */
bool merge_take(struct merge *m, struct ring_event *ev, unsigned int cpu);

#endif
