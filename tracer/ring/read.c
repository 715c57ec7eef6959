// SPDX-License-Identifier: GPL-2.0-or-later
/* read.c - consuming readers of a ring buffer: by event and by raw page. */
#include "tracer/ring/internal.h"

#include <errno.h>

/* Put the reader's page, read to its end, into the circle and take the oldest one out for it. */
static void swap_reader_page(struct ring *r)
{
	struct ring_reader *rd = &r->reader;
	struct ring_page *p = ring_page_at(r, 0);

	ring_page_clear(rd->page);
	r->pages[r->head] = rd->page;
	r->head = (r->head + 1) % r->nr;
	r->used--;
	rd->page = p;
	rd->pos = 0;
	rd->events = 0;
	rd->ts = atomic_load_explicit(&p->ts, memory_order_relaxed);
	rd->lost += r->overrun.events - rd->overrun;
	rd->overrun = r->overrun.events;
}

bool ring_reader_fill(struct ring *r)
{
	struct ring_reader *rd = &r->reader;
	bool more;

	if (rd->pos < ring_page_commit(rd->page))
		return true;
	pthread_mutex_lock(&r->lock);
	/* Again: the writer may have filled and left it by now. */
	more = rd->pos < ring_page_commit(rd->page);
	if (!more && (r->used > 1 || (r->used && ring_page_commit(ring_page_at(r, 0))))) {
		swap_reader_page(r);
		more = true;
	}
	pthread_mutex_unlock(&r->lock);
	return more;
}

/* What is committed and unread of the reader's page. Its first event's time counts from rd->ts. */
static struct ring_walk reader_walk(const struct ring_reader *rd)
{
	struct ring_walk w = {
		.data = rd->page->data,
		.pos = rd->pos,
		.end = ring_page_commit(rd->page),
		.ts = rd->ts,
	};

	if (!rd->pos)
		w.ts = atomic_load_explicit(&rd->page->ts, memory_order_relaxed);
	return w;
}

/* Everything before the walk's place, nr events, has been consumed. */
static void reader_advance(struct ring_reader *rd, const struct ring_walk *w, uint32_t nr)
{
	rd->read.events += nr;
	rd->read.bytes += w->pos - rd->pos;
	rd->events += nr;
	rd->pos = w->pos;
	rd->ts = w->ts;
}

bool ring_consume_event(struct ring *r, struct ring_event *ev, void *buf, bool move)
{
	struct ring_reader *rd = &r->reader;
	bool found = false;

	pthread_mutex_lock(&r->read_lock);
	while (!found && ring_reader_fill(r)) {
		struct ring_walk w = reader_walk(rd);

		found = ring_walk_next(&w, ev) > 0;
		if (move || !found) /* only padding is left: gone, whoever looks */
			reader_advance(rd, &w, found);
	}
	if (found) {
		ev->data = memcpy(buf, ev->data, ev->len);
		ev->lost = rd->lost;
		if (move)
			rd->lost = 0;
	}
	pthread_mutex_unlock(&r->read_lock);
	return found;
}

bool ring_next_time(struct ring *r, uint64_t *ts)
{
	struct ring_event ev;
	bool found = false;

	pthread_mutex_lock(&r->read_lock);
	while (!found && ring_reader_fill(r)) {
		struct ring_walk w = reader_walk(&r->reader);

		found = ring_walk_next(&w, &ev) > 0;
		if (!found)
			reader_advance(&r->reader, &w, 0);
	}
	pthread_mutex_unlock(&r->read_lock);
	if (found)
		*ts = ev.ts;
	return found;
}

/* A page that is complete, its padding cut off to leave room for the count of lost events. */
static uint32_t take_page(struct ring_reader *rd, uint8_t *data, struct ring_walk *w)
{
	struct ring_page *p = rd->page;
	uint32_t len = p->real_end ? p->real_end : w->end;

	memcpy(data, p->data, len);
	w->pos = w->end;
	reader_advance(rd, w, atomic_load_explicit(&p->entries, memory_order_relaxed));
	return len;
}

/* As many of the next events as fit into len bytes. */
static uint32_t take_events(struct ring_reader *rd, uint8_t *data, size_t len, struct ring_walk *w)
{
	struct ring_walk taken = *w;
	struct ring_event ev;
	uint32_t nr = 0, size;

	while (w->pos < w->end) {
		int data_event = ring_walk_next(w, &ev) > 0;

		if (w->pos - rd->pos > len)
			break;
		nr += data_event;
		taken = *w;
	}
	size = taken.pos - rd->pos;
	memcpy(data, rd->page->data + rd->pos, size);
	reader_advance(rd, &taken, nr);
	return size;
}

/* ring_buffer_read_page() of kernel/trace/ring_buffer.c, 6.1, with a copy for its swap of pages. */
static int read_page(struct ring *r, void *page, size_t len, bool full)
{
	uint8_t *data = (uint8_t *)page + RING_PAGE_HDR;
	struct ring_reader *rd = &r->reader;
	struct ring_walk w;
	bool writing, missed;
	uint64_t ts;
	uint32_t size;

	if (len <= RING_PAGE_HDR)
		return -EINVAL;
	len -= RING_PAGE_HDR;
	if (!ring_reader_fill(r))
		return -EAGAIN;
	pthread_mutex_lock(&r->lock);
	writing = !r->used;
	pthread_mutex_unlock(&r->lock);
	w = reader_walk(rd);
	missed = !w.pos && atomic_load_explicit(&rd->page->missed, memory_order_relaxed);
	ts = w.ts;
	if (full && (writing || w.end - w.pos > len))
		return -EAGAIN;

	if (!w.pos && !writing && w.end <= len)
		size = take_page(rd, data, &w);
	else
		size = take_events(rd, data, len, &w);
	if (!size)
		return -EINVAL;
	ring_finish_page(page, ts, size, missed ? RING_LOST_UNKNOWN : rd->lost);
	rd->lost = 0;
	return (int)size;
}

int ring_read_page(struct ring *r, void *page, size_t len, bool full)
{
	int ret;

	pthread_mutex_lock(&r->read_lock);
	ret = read_page(r, page, len, full);
	pthread_mutex_unlock(&r->read_lock);
	return ret;
}
