// SPDX-License-Identifier: GPL-2.0-or-later
/* merge.c - see merge.h */
#include "tracer/graph/merge.h"

#include <string.h>
#include <sys/mman.h>

/* Records of one vCPU; a full queue has room for the largest staging ring (TRACE_WINDOW_MAX). */
#define QUEUE_MAX  ((size_t)1 << 22) /* a power of two */
#define QUEUE_FULL ((size_t)1 << 21)
#define QUEUE_KEEP ((size_t)1 << 18) /* of one that was longer once, and what bursts find there */
#define QUEUE_SIZE (QUEUE_MAX * sizeof(struct payload_record))

/* All queues take no more memory than those of so many vCPUs: where there are more each has less.
 */
#define QUEUES_LONG 8

#define REWIND_MIN 8192

#define LOSING_RUNS 3

/* A vCPU's part of what so many could have. */
static size_t queue_part(const struct graph_merge *m, size_t nr)
{
	return m->vcpus > QUEUES_LONG ? nr / m->vcpus * QUEUES_LONG : nr;
}

/* Room for the longest is mapped; most never get there, and memory comes as it is used. */
static bool queue_open(const struct graph_merge *m, struct graph_queue *q)
{
	void *v = mmap(NULL, QUEUE_SIZE, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (v == MAP_FAILED)
		return false;
	/* Fewer faults, if it can be had. */
	madvise(v, QUEUE_SIZE, MADV_HUGEPAGE);
	if (m->prefault)
		madvise(v, queue_part(m, QUEUE_KEEP) * sizeof(*q->v), MADV_POPULATE_WRITE);
	q->v = v;
	return true;
}

/* How many records fit. */
static size_t queue_room(const struct graph_merge *m, struct graph_queue *q)
{
	return q->v || queue_open(m, q) ? QUEUE_MAX - q->nr : 0;
}

/* Those at the front of it that lie side by side and are not later than `until`, `max` at most. */
static size_t queue_run(const struct graph_queue *q, uint64_t until, size_t max)
{
	size_t n = 1, end = QUEUE_MAX - q->next;

	if (end > q->nr)
		end = q->nr;
	if (end > max)
		end = max;
	while (n < end && q->v[q->next + n].tsc <= until)
		n++;
	return n;
}

static void queue_take(struct graph_queue *q, size_t n)
{
	q->next = (q->next + n) & (QUEUE_MAX - 1);
	q->nr -= n;
}

/*
 * Where there is far more room in front of a queue than it is long it begins at the start again, in
 * memory that has just been used: it would wander through all that it could ever have.
 */
static void queue_rewind(const struct graph_merge *m, struct graph_queue *q)
{
	const size_t keep = queue_part(m, QUEUE_KEEP);

	if (q->next < REWIND_MIN || q->nr > q->next / 2 || q->next + q->nr > QUEUE_MAX)
		return;
	memcpy(q->v, q->v + q->next, q->nr * sizeof(*q->v));
	q->next = 0;
	if (q->used <= keep || q->nr > keep)
		return;
	madvise(q->v + keep, QUEUE_SIZE - keep * sizeof(*q->v), MADV_DONTNEED);
	q->used = keep;
}

static bool is_of_a_call(const struct payload_record *r)
{
	unsigned int type = r->state >> STATE_TYPE_SHIFT & STATE_TYPE_MASK;

	return type == PAYLOAD_FUNCTION || type == PAYLOAD_EXIT;
}

/* There is room for it. */
static void queue_put(struct graph_queue *q, const struct payload_record *r)
{
	size_t at = (q->next + q->nr++) & (QUEUE_MAX - 1);

	q->v[at] = *r;
	if (at >= q->used)
		q->used = at + 1;
	if (r->tsc > q->latest)
		q->latest = r->tsc;
}

static bool queue_add(const struct graph_merge *m, struct graph_queue *q,
		      const struct payload_record *r)
{
	if (!queue_room(m, q))
		return false;
	queue_put(q, r);
	return true;
}

static bool queue_mark(const struct graph_merge *m, struct graph_queue *q, uint32_t type,
		       uint64_t tsc)
{
	const struct payload_record r = {.tsc = tsc, .state = type << STATE_TYPE_SHIFT};

	return queue_add(m, q, &r);
}

bool graph_merge_lost(struct graph_merge *m, unsigned int vcpu)
{
	struct graph_queue *q = &m->queue[vcpu];

	if (!q->losing && !queue_mark(m, q, GRAPH_LOST, q->last))
		return false;
	q->losing = LOSING_RUNS;
	return true;
}

bool graph_merge_is_full(const struct graph_merge *m, unsigned int vcpu, size_t n)
{
	/* Half of what one may have is all that there is of others to be taken before its own. */
	size_t full =
		m->waits && m->vcpus > 1 ? QUEUE_FULL / 2 / m->vcpus : queue_part(m, QUEUE_FULL);

	return m->queue[vcpu].nr + n > full;
}

bool graph_merge_add_own(struct graph_merge *m, unsigned int vcpu, const struct payload_record *r)
{
	return queue_add(m, &m->queue[vcpu], r);
}

bool graph_merge_add(struct graph_merge *m, unsigned int vcpu, const struct payload_record *r,
		     size_t n)
{
	struct graph_queue *q = &m->queue[vcpu];

	if (n >= queue_room(m, q))
		return false;
	for (size_t i = 0; i < n; i++) {
		if (!is_of_a_call(&r[i]))
			continue;
		if (q->losing) {
			queue_mark(m, q, GRAPH_FOUND, r[i].tsc);
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

	for (unsigned int i = 0; i < m->vcpus; i++) {
		struct graph_queue *q = &m->queue[i];

		if (q->losing > 1 && !all)
			q->losing--;
		else if (q->losing && queue_mark(m, q, GRAPH_FOUND, end))
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
		struct graph_queue *q = &m->queue[i];
		uint64_t tsc;

		if (!q->nr || q->v[q->next].tsc > until)
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

/* Up to when all that was recorded has been queued. */
static uint64_t queued_until(const struct graph_merge *m, uint64_t held)
{
	uint64_t until = m->horizon;

	for (unsigned int i = 0; i < m->vcpus; i++)
		if (held >> i & 1 && m->queue[i].latest < until)
			until = m->queue[i].latest;
	return until;
}

bool graph_merge_run(struct graph_merge *m, bool all, size_t max, uint64_t held, graph_merge_fn *fn,
		     void *arg)
{
	uint64_t until = all ? UINT64_MAX : queued_until(m, held), other;
	struct graph_queue *q;
	bool left;

	if (m->hold && until > m->hold)
		until = m->hold;
	if (all || !held)
		close_losses(m, all);
	while ((q = first_queue(m, until, &other)) && max) {
		size_t n = queue_run(q, other, max);

		fn(arg, (unsigned int)(q - m->queue), &q->v[q->next], n);
		queue_take(q, n);
		max -= n;
	}
	left = q != NULL;
	m->horizon = 0;
	for (unsigned int i = 0; i < m->vcpus; i++) {
		q = &m->queue[i];
		queue_rewind(m, q);
		if (!q->nr)
			q->latest = 0;
		else if (q->latest > m->horizon)
			m->horizon = q->latest;
	}
	return left;
}

void graph_merge_exit(struct graph_merge *m)
{
	for (unsigned int i = 0; i < m->vcpus; i++)
		if (m->queue[i].v)
			munmap(m->queue[i].v, QUEUE_SIZE);
}
