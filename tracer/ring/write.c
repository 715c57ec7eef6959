// SPDX-License-Identifier: GPL-2.0-or-later
/* write.c - the writing end of a ring buffer. */
#include "tracer/ring/put.h"

/* Fill the page up as the kernel does (rb_reset_tail). Too little room for an event: not counted.
 */
static void pad_page(struct ring_writer *w)
{
	uint32_t left = RING_PAGE_DATA - w->pos;
	uint8_t *at = w->page->data + w->pos;

	if (!left)
		return;
	if (left < RING_EVENT_MIN) {
		ring_put_word(at, RING_TYPE_PADDING, 0);
		return;
	}
	ring_put_word(at, RING_TYPE_PADDING, 1);
	ring_put_u32(at + RING_EVENT_HDR, left - RING_EVENT_HDR);
	w->page->real_end = w->pos;
	w->pos = RING_PAGE_DATA;
	ring_publish(w->page, w->pos);
}

/* The oldest page, its events given up. Called with lock held. */
static void overwrite_head(struct ring *r)
{
	struct ring_page *p = ring_page_at(r, 0);

	r->overrun.events += atomic_load_explicit(&p->entries, memory_order_relaxed);
	r->overrun.bytes += ring_page_commit(p);
	r->head = (r->head + 1) % r->nr;
	r->used--;
}

/* Go to the next page. False: full, and nothing may be overwritten. */
static bool next_page(struct ring *r)
{
	struct ring_writer *w = &r->writer;
	struct ring_page *p = NULL;

	pthread_mutex_lock(&r->lock);
	if (r->used == r->nr && !r->overwrite)
		goto unlock;
	if (r->used == r->nr)
		overwrite_head(r);
	r->left.events += atomic_load_explicit(&w->page->entries, memory_order_relaxed);
	r->left.bytes += w->pos;
	p = ring_page_at(r, r->used++);
	ring_page_clear(p);
	p->seq = ++r->seq;
	p->first = r->left.events;
	r->tail = p;
	w->page = p;
	w->pos = 0;
	w->limit = 0;
unlock:
	pthread_mutex_unlock(&r->lock);
	return p;
}

/* The same for an event, which is dropped then. */
static bool next_page_for_event(struct ring *r)
{
	if (next_page(r))
		return true;
	pthread_mutex_lock(&r->lock);
	r->dropped++;
	pthread_mutex_unlock(&r->lock);
	return false;
}

static void *put_extended(struct ring_writer *w, uint32_t size, uint64_t delta, uint64_t ts)
{
	uint8_t *at = w->page->data + w->pos;

	ring_put_word(at, RING_TYPE_TIME_EXTEND, delta & ((1U << RING_DELTA_BITS) - 1));
	ring_put_u32(at + RING_EVENT_HDR, (uint32_t)(delta >> RING_DELTA_BITS));
	w->end = w->pos + RING_EXTEND_SIZE + size;
	w->event_ts = ts;
	return ring_put_event(at + RING_EXTEND_SIZE, size, 0);
}

static void *put_first(struct ring_writer *w, uint32_t size, uint64_t ts)
{
	atomic_store_explicit(&w->page->ts, ts, memory_order_relaxed);
	return ring_put_at(w, size, 0, ts);
}

/* Everything but an event that fits behind another one, soon after it. */
void *ring_reserve_slow(struct ring *r, uint32_t size, uint64_t ts)
{
	uint32_t control = atomic_load_explicit(&r->control, memory_order_acquire);
	struct ring_writer *w = &r->writer;
	uint64_t delta;

	if (control & RING_CTL_OFF)
		return NULL;
	if (control & RING_CTL_RESET) {
		atomic_fetch_and_explicit(&r->control, ~(uint32_t)RING_CTL_RESET,
					  memory_order_relaxed);
		next_page(r); /* there is room: nothing is in the circle */
		w->ts = 0;
	}
	if (ts < w->ts)
		ts = w->ts;
	if (!w->pos)
		return put_first(w, size, ts);

	delta = ts - w->ts;
	/* More than a TIME_EXTEND can hold; a page's time stamp is complete. */
	if (delta >> RING_EXTEND_BITS)
		return next_page_for_event(r) ? put_first(w, size, ts) : NULL;
	if (delta >> RING_DELTA_BITS) {
		if (w->pos + RING_EXTEND_SIZE + size <= RING_PAGE_DATA)
			return put_extended(w, size, delta, ts);
	} else if (w->pos + size <= RING_PAGE_DATA) {
		return ring_put_at(w, size, (uint32_t)delta, ts);
	}
	pad_page(w);
	return next_page_for_event(r) ? put_first(w, size, ts) : NULL;
}

void ring_missed(struct ring *r)
{
	struct ring_writer *w = &r->writer;

	/* Then nothing is recorded, or nothing is left of what was before. */
	if (atomic_load_explicit(&r->control, memory_order_acquire))
		return;
	if (w->pos) {
		pad_page(w);
		if (!next_page(r))
			return;
	}
	atomic_store_explicit(&w->page->missed, true, memory_order_relaxed);
}

void *ring_reserve(struct ring *r, size_t len, uint64_t ts)
{
	return ring_put_begin(r, len, ts);
}

void ring_commit(struct ring *r)
{
	ring_put_end(r);
}

void ring_discard(struct ring *r)
{
	r->writer.end = r->writer.pos;
}

uint64_t ring_last_time(const struct ring *r)
{
	return atomic_load(&r->control) & RING_CTL_RESET ? 0 : r->writer.ts;
}
