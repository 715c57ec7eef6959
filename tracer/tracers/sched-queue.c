// SPDX-License-Identifier: GPL-2.0-or-later
/* sched-queue.c - see sched-queue.h */
#include "tracer/tracers/sched-queue.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void sched_queue_exit(struct sched_queue *q)
{
	for (unsigned int v = 0; v < MACHINE_MAX_VCPUS; v++)
		free(q->vcpu[v].v);
}

void sched_queue_clear(struct sched_queue *q)
{
	for (unsigned int v = 0; v < MACHINE_MAX_VCPUS; v++)
		q->vcpu[v].from = q->vcpu[v].n = q->vcpu[v].last = 0;
	q->certain = q->latest = q->before = 0;
}

/* Room for one more at the end. */
static int fifo_grow(struct sched_fifo *f)
{
	size_t room = f->room ? 2 * f->room : 64;
	struct sched_record *v;

	if (f->from) {
		memmove(f->v, f->v + f->from, f->n * sizeof(*f->v));
		f->from = 0;
	}
	if (f->n < f->room)
		return 0;
	v = room > SCHED_QUEUE_MAX ? NULL : realloc(f->v, room * sizeof(*v));
	if (!v)
		return -ENOMEM;
	f->v = v;
	f->room = room;
	return 0;
}

int sched_queue_add(struct sched_queue *q, const struct sched_record *r)
{
	struct sched_fifo *f = &q->vcpu[r->vcpu];
	struct sched_record *to;

	if (f->from + f->n == f->room && fifo_grow(f))
		return -ENOMEM;
	to = &f->v[f->from + f->n++];
	*to = *r;
	if (to->ts < f->last)
		to->ts = f->last;
	f->last = to->ts;
	if (f->last > q->latest)
		q->latest = f->last;
	return 0;
}

void sched_queue_pass(struct sched_queue *q, uint64_t behind)
{
	uint64_t at = q->before;

	for (unsigned int v = 0; v < MACHINE_MAX_VCPUS; v++)
		if (behind >> v & 1 && q->vcpu[v].last < at)
			at = q->vcpu[v].last;
	if (at > q->certain)
		q->certain = at;
	q->before = q->latest;
}

bool sched_queue_next(struct sched_queue *q, struct sched_record *r)
{
	struct sched_fifo *first = NULL;

	for (unsigned int v = 0; v < MACHINE_MAX_VCPUS; v++) {
		struct sched_fifo *f = &q->vcpu[v];

		if (f->n && (!first || f->v[f->from].ts < first->v[first->from].ts))
			first = f;
	}
	if (!first || first->v[first->from].ts > q->certain)
		return false;
	*r = first->v[first->from++];
	if (!--first->n)
		first->from = 0;
	return true;
}
