/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * put.h - ring_reserve() and ring_commit() for those who write millions of events a second:
 * what an event needs that fits behind another one, soon after it, without a call.
 */
#ifndef HVTRACE_TRACER_RING_PUT_H
#define HVTRACE_TRACER_RING_PUT_H

#include "tracer/ring/internal.h"

/* Of write.c: for every other event, of size bytes from ring_event_size(). */
void *ring_reserve_slow(struct ring *r, uint32_t size, uint64_t ts);

/* Let readers have the page's data up to end. The pairing acquire is ring_page_commit(). */
static inline void ring_publish(struct ring_page *p, uint32_t end)
{
	atomic_store_explicit(&p->commit, end, memory_order_release);
}

static inline void *ring_put_at(struct ring_writer *w, uint32_t size, uint32_t delta, uint64_t ts)
{
	uint8_t *at = w->page->data + w->pos;

	w->end = w->pos + size;
	w->event_ts = ts;
	return ring_put_event(at, size, delta);
}

/* As ring_reserve(). */
static inline void *ring_put_begin(struct ring *r, size_t len, uint64_t ts)
{
	struct ring_writer *w = &r->writer;
	uint64_t delta = ts - w->ts;
	uint32_t size;

	if (len > RING_MAX_DATA)
		return NULL;
	size = ring_event_size(len);
	if (__builtin_expect(w->pos + size > w->limit || delta >> RING_DELTA_BITS ||
				     atomic_load_explicit(&r->control, memory_order_relaxed),
			     false))
		return ring_reserve_slow(r, size, ts);
	return ring_put_at(w, size, (uint32_t)delta, ts);
}

/* As ring_commit(). */
static inline void ring_put_end(struct ring *r)
{
	struct ring_writer *w = &r->writer;
	struct ring_page *p = w->page;
	uint32_t entries = atomic_load_explicit(&p->entries, memory_order_relaxed);

	atomic_store_explicit(&p->entries, entries + 1, memory_order_relaxed);
	w->pos = w->end;
	w->ts = w->event_ts;
	w->limit = RING_PAGE_DATA;
	ring_publish(p, w->pos);
}

#endif
