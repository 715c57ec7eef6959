// SPDX-License-Identifier: GPL-2.0-or-later
/* graph-merge.c - see graph-merge.h */
#include "tracer/graph-merge.h"

#include <stdlib.h>

#define QUEUE_MAX ((size_t)1 << 21) /* records of one vCPU */
/*
 * Memory that was used before costs less than fresh pages, so some of it is kept: what is queued
 * while function_graph keeps up.
 */
#define CHUNK	    4096 /* records */
#define CHUNKS_KEEP 64

#define LOSING_RUNS 3

struct graph_chunk {
	struct graph_chunk *later;
	size_t next, nr;
	struct payload_record v[CHUNK];
};

static struct graph_chunk *chunk_get(struct graph_queue *q)
{
	struct graph_chunk *c = q->spare;

	if (!c)
		return malloc(sizeof(*c));
	q->spare = c->later;
	q->nr_spare--;
	return c;
}

static void chunk_put(struct graph_queue *q, struct graph_chunk *c)
{
	if (q->nr_spare == CHUNKS_KEEP) {
		free(c);
		return;
	}
	c->later = q->spare;
	q->spare = c;
	q->nr_spare++;
}

/* The chunk that the next record goes into, NULL: there is no room. */
static struct graph_chunk *queue_end(struct graph_queue *q)
{
	struct graph_chunk *c = q->last;

	if (c && c->nr < CHUNK)
		return c;
	if (q->nr >= QUEUE_MAX)
		return NULL;
	c = chunk_get(q);
	if (!c)
		return NULL;
	c->later = NULL;
	c->next = c->nr = 0;
	*(q->last ? &q->last->later : &q->first) = c;
	q->last = c;
	return c;
}

/* The record that comes next, NULL: there is none. */
static const struct payload_record *queue_first(const struct graph_queue *q)
{
	return q->nr ? &q->first->v[q->first->next] : NULL;
}

/* The records at the front of it, as many as lie side by side and are not later than `until`, `max`
 * at most. */
static size_t queue_run(const struct graph_queue *q, uint64_t until, size_t max)
{
	const struct graph_chunk *c = q->first;
	size_t n = 1, end = c->nr - c->next < max ? c->nr - c->next : max;

	while (n < end && c->v[c->next + n].tsc <= until)
		n++;
	return n;
}

static void queue_take(struct graph_queue *q, size_t n)
{
	struct graph_chunk *c = q->first;

	q->nr -= n;
	c->next += n;
	if (c->next < c->nr)
		return;
	q->first = c->later;
	if (!q->first)
		q->last = NULL;
	chunk_put(q, c);
}

static bool is_of_a_call(const struct payload_record *r)
{
	unsigned int type = r->state >> STATE_TYPE_SHIFT & STATE_TYPE_MASK;

	return type == PAYLOAD_FUNCTION || type == PAYLOAD_EXIT;
}

static bool queue_add(struct graph_queue *q, const struct payload_record *r)
{
	struct graph_chunk *c = queue_end(q);

	if (!c)
		return false;
	c->v[c->nr++] = *r;
	q->nr++;
	if (r->tsc > q->latest)
		q->latest = r->tsc;
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

	if (!q->losing && !queue_mark(q, GRAPH_LOST, q->last_tsc))
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

	for (size_t i = 0; i < n; i++) {
		if (!is_of_a_call(&r[i]))
			continue;
		if (q->losing && !queue_mark(q, GRAPH_FOUND, r[i].tsc))
			return false;
		q->losing = 0;
		if (!queue_add(q, &r[i]))
			return false;
		q->last_tsc = r[i].tsc;
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

	for (unsigned int i = 0; i < m->vcpus; i++) {
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
	for (unsigned int i = 0; i < m->vcpus; i++) {
		const struct payload_record *r = queue_first(&m->queue[i]);

		if (!r || r->tsc > until)
			continue;
		if (!first || r->tsc < earliest) {
			if (first && earliest < *other)
				*other = earliest;
			first = &m->queue[i];
			earliest = r->tsc;
		} else if (r->tsc < *other) {
			*other = r->tsc;
		}
	}
	return first;
}

bool graph_merge_run(struct graph_merge *m, bool all, size_t max, graph_merge_fn *fn, void *arg)
{
	uint64_t until = all ? UINT64_MAX : m->horizon, other;
	struct graph_queue *q;
	bool left;

	close_losses(m, all);
	while ((q = first_queue(m, until, &other)) && max) {
		size_t n = queue_run(q, other, max);

		fn(arg, (unsigned int)(q - m->queue), queue_first(q), n);
		queue_take(q, n);
		max -= n;
	}
	left = q != NULL;
	m->horizon = 0;
	for (unsigned int i = 0; i < m->vcpus; i++) {
		q = &m->queue[i];
		if (!q->nr)
			q->latest = 0;
		else if (q->latest > m->horizon)
			m->horizon = q->latest;
	}
	return left;
}

static void chunks_free(struct graph_chunk *c)
{
	while (c) {
		struct graph_chunk *later = c->later;

		free(c);
		c = later;
	}
}

void graph_merge_exit(struct graph_merge *m)
{
	for (unsigned int i = 0; i < m->vcpus; i++) {
		chunks_free(m->queue[i].first);
		chunks_free(m->queue[i].spare);
	}
}
