// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * look.c - cursors: readers by event, and how to look at a ring without consuming.
 *
 * A looking cursor copies a page's committed events with the locks held, then reads its copy, so
 * neither the writer nor consumers can change what it reads. Pages are told apart by their
 * sequence numbers, which have no gaps within the circle, and events are counted from ring_new(),
 * so what has gone by is known exactly.
 */
#include "tracer/ring/internal.h"

#include <stdlib.h>

struct ring_cursor {
	struct ring *ring;
	bool consume;

	/* Looking only. */
	uint64_t generation; /* of the ring when `next` was set */
	uint64_t seq;	     /* of the page copied; 0: none */
	uint64_t next;	     /* number of the next event to return */
	uint64_t lost;	     /* passed by since the last one returned */
	struct ring_walk walk;

	uint8_t data[RING_PAGE_DATA]; /* the page copied; consuming: the event returned */
};

/* The page of that sequence number or, when it is gone, the oldest. Called with both locks held. */
static struct ring_page *page_from(struct ring *r, uint64_t seq)
{
	uint64_t head = r->seq - r->used + 1; /* the first in the circle, when there is one */

	if (seq <= r->reader.page->seq && r->reader.pos < ring_page_commit(r->reader.page))
		return r->reader.page;
	if (!r->used)
		return seq <= r->seq ? r->tail : NULL;
	if (seq <= head)
		return ring_page_at(r, 0);
	return seq <= r->seq ? ring_page_at(r, seq - head) : NULL;
}

/* Number of the oldest event of p that is not consumed. */
static uint64_t page_first(const struct ring *r, const struct ring_page *p)
{
	return p->first + (p == r->reader.page ? r->reader.events : 0);
}

/* The ring was reset: what the cursor has in hand is to be forgotten. */
static bool cursor_stale(const struct ring_cursor *c)
{
	return atomic_load_explicit(&c->ring->generation, memory_order_relaxed) != c->generation;
}

static void start_anew(struct ring_cursor *c)
{
	struct ring *r = c->ring;

	c->generation = r->generation;
	c->seq = 0;
	c->next = page_first(r, page_from(r, 0));
	c->lost = 0;
	c->walk = (struct ring_walk){.data = c->data};
}

/* Take what the page holds beyond what the cursor has already copied of it. */
static bool copy_more(struct ring_cursor *c, struct ring_page *p)
{
	uint32_t end = ring_page_commit(p);

	if (end == c->walk.end)
		return false;
	memcpy(c->data + c->walk.end, p->data + c->walk.end, end - c->walk.end);
	c->walk.end = end;
	return true;
}

static bool copy_page(struct ring_cursor *c, struct ring_page *p)
{
	uint64_t first = page_first(c->ring, p), number = p->first;
	struct ring_event ev;

	if (!ring_page_commit(p))
		return false;
	c->seq = p->seq;
	c->walk = (struct ring_walk){
		.data = c->data,
		.ts = atomic_load_explicit(&p->ts, memory_order_relaxed),
	};
	copy_more(c, p);
	while (number < first && ring_walk_next(&c->walk, &ev) > 0)
		number++;
	if (first > c->next) {
		c->lost += first - c->next;
		c->next = first;
	}
	return true;
}

/* Get events that the cursor has not seen. Called with both locks held. */
static bool copy_next(struct ring_cursor *c)
{
	struct ring *r = c->ring;
	struct ring_page *p;

	if (cursor_stale(c))
		start_anew(c);
	p = page_from(r, c->seq);
	if (p && p->seq == c->seq) {
		if (copy_more(c, p))
			return true;
		p = page_from(r, c->seq + 1);
	}
	return p && copy_page(c, p);
}

static bool look_fill(struct ring_cursor *c)
{
	struct ring *r = c->ring;
	bool more;

	pthread_mutex_lock(&r->read_lock);
	pthread_mutex_lock(&r->lock);
	more = copy_next(c);
	pthread_mutex_unlock(&r->lock);
	pthread_mutex_unlock(&r->read_lock);
	return more;
}

static bool look_event(struct ring_cursor *c, struct ring_event *ev, bool move)
{
	struct ring_walk w;

	for (;;) {
		w = c->walk;
		if (!cursor_stale(c) && ring_walk_next(&w, ev) > 0)
			break;
		c->walk = w;
		if (!look_fill(c))
			return false;
	}
	ev->lost = c->lost;
	if (move) {
		c->walk = w;
		c->next++;
		c->lost = 0;
	}
	return true;
}

static struct ring_cursor *cursor_new(struct ring *r, bool consume)
{
	struct ring_cursor *c = malloc(sizeof(*c));

	if (!c)
		return NULL;
	c->ring = r;
	c->consume = consume;
	return c;
}

struct ring_cursor *ring_look(struct ring *r)
{
	struct ring_cursor *c = cursor_new(r, false);

	if (!c)
		return NULL;
	pthread_mutex_lock(&r->read_lock);
	pthread_mutex_lock(&r->lock);
	start_anew(c);
	pthread_mutex_unlock(&r->lock);
	pthread_mutex_unlock(&r->read_lock);
	return c;
}

struct ring_cursor *ring_consume(struct ring *r)
{
	return cursor_new(r, true);
}

void ring_cursor_free(struct ring_cursor *c)
{
	free(c);
}

bool ring_peek(struct ring_cursor *c, struct ring_event *ev)
{
	if (c->consume)
		return ring_consume_event(c->ring, ev, c->data, false);
	return look_event(c, ev, false);
}

bool ring_next(struct ring_cursor *c, struct ring_event *ev)
{
	if (c->consume)
		return ring_consume_event(c->ring, ev, c->data, true);
	return look_event(c, ev, true);
}

uint64_t ring_cursor_left(struct ring_cursor *c)
{
	struct ring *r = c->ring;
	uint64_t written;

	pthread_mutex_lock(&r->read_lock);
	pthread_mutex_lock(&r->lock);
	if (cursor_stale(c))
		start_anew(c);
	written = r->left.events + atomic_load_explicit(&r->tail->entries, memory_order_relaxed);
	pthread_mutex_unlock(&r->lock);
	pthread_mutex_unlock(&r->read_lock);
	return written - c->next + c->lost;
}
