// SPDX-License-Identifier: GPL-2.0-or-later
/* graph-merge.c - see graph-merge.h */
#include "tracer/graph-merge.h"

#include <stdlib.h>
#include <string.h>

#define QUEUE_MIN  ((size_t)1 << 13)
#define QUEUE_MAX  ((size_t)1 << 21)
#define QUEUE_KEEP ((size_t)1 << 18) /* of one that was longer once */

#define LOSING_RUNS 3

static bool queue_reserve(struct graph_queue *q, size_t n)
{
	size_t room = q->room ? q->room : QUEUE_MIN;
	struct payload_record *v;

	if (q->next) {
		memmove(q->v, q->v + q->next, (q->nr - q->next) * sizeof(*q->v));
		q->nr -= q->next;
		q->next = 0;
	}
	if (n > QUEUE_MAX - q->nr)
		return false;
	/* Moving all of it is worth it only where that makes much room. */
	while (room < q->nr + n || (room < QUEUE_MAX && q->nr > room / 2))
		room *= 2;
	if (room == q->room)
		return true;
	v = realloc(q->v, room * sizeof(*v));
	if (!v)
		return false;
	q->v = v;
	q->room = room;
	return true;
}

static bool is_of_a_call(const struct payload_record *r)
{
	unsigned int type = r->state >> STATE_TYPE_SHIFT & STATE_TYPE_MASK;

	return type == PAYLOAD_FUNCTION || type == PAYLOAD_EXIT;
}

/* There is room. */
static void queue_put(struct graph_queue *q, const struct payload_record *r)
{
	q->v[q->nr++] = *r;
	if (r->tsc > q->latest)
		q->latest = r->tsc;
}

static bool queue_add(struct graph_queue *q, const struct payload_record *r)
{
	if (q->nr == q->room && !queue_reserve(q, 1))
		return false;
	queue_put(q, r);
	return true;
}

static bool queue_mark(struct graph_queue *q, uint32_t type, uint64_t tsc)
{
	const struct payload_record r = {.tsc = tsc, .state = type << STATE_TYPE_SHIFT};

	return queue_add(q, &r);
}

bool graph_merge_lost(struct graph_merge *m, unsigned int vcpu)
{
	struct graph_queue *q = &m->queue[vcpu];

	if (!q->losing && !queue_mark(q, GRAPH_LOST, q->last))
		return false;
	q->losing = LOSING_RUNS;
	return true;
}

bool graph_merge_add_own(struct graph_merge *m, unsigned int vcpu, const struct payload_record *r)
{
	return queue_add(&m->queue[vcpu], r);
}

bool graph_merge_add(struct graph_merge *m, unsigned int vcpu, const struct payload_record *r,
		     size_t n)
{
	struct graph_queue *q = &m->queue[vcpu];

	if (n + 1 > q->room - q->nr && !queue_reserve(q, n + 1))
		return false;
	for (size_t i = 0; i < n; i++) {
		if (!is_of_a_call(&r[i]))
			continue;
		if (q->losing) {
			queue_mark(q, GRAPH_FOUND, r[i].tsc);
			q->losing = 0;
		}
		queue_put(q, &r[i]);
		q->last = r[i].tsc;
	}
	return true;
}

/*
 * A vCPU that has nothing to record must not hold the others up. What it has lost was made before
 * that was noticed. All that others had made by then was queued by the next run: so it is not later
 * than the horizon of the one after, and whatever comes from this vCPU now is.
 */
static void close_losses(struct graph_merge *m, bool all)
{
	uint64_t end = all ? UINT64_MAX : m->horizon + 1;

	for (unsigned int i = 0; i < MACHINE_MAX_VCPUS; i++) {
		struct graph_queue *q = &m->queue[i];

		if (q->losing > 1 && !all)
			q->losing--;
		else if (q->losing && queue_mark(q, GRAPH_FOUND, end))
			q->losing = 0;
	}
}

/* What comes first, and up to when nothing of another vCPU's does. NULL: nothing up to `until`. */
static struct graph_queue *first_queue(struct graph_merge *m, uint64_t until, uint64_t *other)
{
	struct graph_queue *first = NULL;
	uint64_t earliest = 0;

	*other = until;
	for (unsigned int i = 0; i < MACHINE_MAX_VCPUS; i++) {
		struct graph_queue *q = &m->queue[i];
		uint64_t tsc;

		if (q->next == q->nr || q->v[q->next].tsc > until)
			continue;
		tsc = q->v[q->next].tsc;
		if (!first || tsc < earliest) {
			if (first && earliest < *other)
				*other = earliest;
			first = q;
			earliest = tsc;
		} else if (tsc < *other) {
			*other = tsc;
		}
	}
	return first;
}

/* All of it has been handed over. */
static void queue_empty(struct graph_queue *q)
{
	q->next = q->nr = q->latest = 0;
	if (q->room <= QUEUE_KEEP)
		return;
	free(q->v);
	q->v = NULL;
	q->room = 0;
}

bool graph_merge_run(struct graph_merge *m, bool all, size_t max,
		     void (*fn)(void *arg, unsigned int vcpu, const struct payload_record *r),
		     void *arg)
{
	uint64_t until = all ? UINT64_MAX : m->horizon, other;
	struct graph_queue *q;
	bool left;

	close_losses(m, all);
	while ((q = first_queue(m, until, &other)) && max) {
		do
			fn(arg, (unsigned int)(q - m->queue), &q->v[q->next++]);
		while (--max && q->next < q->nr && q->v[q->next].tsc <= other);
	}
	left = q != NULL;
	m->horizon = 0;
	for (unsigned int i = 0; i < MACHINE_MAX_VCPUS; i++) {
		q = &m->queue[i];
		if (q->next == q->nr)
			queue_empty(q);
		else if (q->latest > m->horizon)
			m->horizon = q->latest;
	}
	return left;
}

void graph_merge_exit(struct graph_merge *m)
{
	for (unsigned int i = 0; i < MACHINE_MAX_VCPUS; i++)
		free(m->queue[i].v);
}
