/* SPDX-License-Identifier: GPL-2.0-or-later */
/* merge.h - the events of several rings as one sequence: by time, at equal times by CPU. */
#ifndef HVTRACE_TRACER_MERGE_H
#define HVTRACE_TRACER_MERGE_H

#include "tracer/ring.h"

struct merge;

/*
 * Read rings[0..nr), one per CPU; NULL ones are left out. They outlive the merge. NULL when there
 * is no memory.
 */
struct merge *merge_new(struct ring *const *rings, unsigned int nr, bool consume);
void merge_free(struct merge *m); /* NULL is allowed */

/*
 * The next event and its CPU; ev->data stays until the next merge_next(). False: none (now). As in
 * the kernel, an event that is committed after a later one of another CPU was returned comes late.
 */
bool merge_next(struct merge *m, struct ring_event *ev, unsigned int *cpu);
/* Time of the event that merge_next() would return. False: none (now). */
bool merge_peek(struct merge *m, uint64_t *ts);

#endif
