// SPDX-License-Identifier: GPL-2.0-or-later
/* ring.c - a ring buffer's life, size, counts and switches. */
#include "tracer/ring/internal.h"

#include <errno.h>
#include <stdlib.h>

void ring_page_clear(struct ring_page *p)
{
	atomic_store_explicit(&p->commit, 0, memory_order_relaxed);
	atomic_store_explicit(&p->entries, 0, memory_order_relaxed);
	atomic_store_explicit(&p->missed, false, memory_order_relaxed);
	p->real_end = 0;
}

/* Whole pages for that many bytes, two at least, as in the kernel (ring_buffer_resize). */
static size_t nr_pages(size_t bytes)
{
	size_t nr = bytes / RING_PAGE_DATA + (bytes % RING_PAGE_DATA != 0);

	return nr < 2 ? 2 : nr;
}

static struct ring *make(size_t bytes, bool at_once)
{
	size_t nr = nr_pages(bytes);
	struct ring *r = aligned_alloc(alignof(struct ring), sizeof(*r));

	if (!r)
		return NULL;
	memset(r, 0, sizeof(*r));
	r->pages = calloc(nr, sizeof(*r->pages));
	if (!r->pages || ring_pages_alloc(&r->reader.page, 1, true))
		goto free_ring;
	if (ring_pages_alloc(r->pages, nr, at_once))
		goto free_reader;
	r->nr = nr;
	r->overwrite = true;
	r->used = 1;
	r->tail = r->pages[0];
	r->tail->seq = ++r->seq;
	r->writer.page = r->tail;
	pthread_mutex_init(&r->lock, NULL);
	pthread_mutex_init(&r->read_lock, NULL);
	pthread_mutex_init(&r->resize_lock, NULL);
	return r;

free_reader:
	ring_pages_free(&r->reader.page, 1);
free_ring:
	free(r->pages);
	free(r);
	return NULL;
}

struct ring *ring_new(size_t bytes)
{
	return make(bytes, true);
}

struct ring *ring_new_lazy(size_t bytes)
{
	return make(bytes, false);
}

void ring_free(struct ring *r)
{
	if (!r)
		return;
	pthread_mutex_destroy(&r->resize_lock);
	pthread_mutex_destroy(&r->read_lock);
	pthread_mutex_destroy(&r->lock);
	ring_pages_free(r->pages, r->nr);
	free(r->pages);
	ring_pages_free(&r->reader.page, 1);
	free(r);
}

void ring_set_overwrite(struct ring *r, bool on)
{
	pthread_mutex_lock(&r->lock);
	r->overwrite = on;
	pthread_mutex_unlock(&r->lock);
}

void ring_record(struct ring *r, bool on)
{
	if (on)
		atomic_fetch_and(&r->control, ~(uint32_t)RING_CTL_OFF);
	else
		atomic_fetch_or(&r->control, RING_CTL_OFF);
}

/* Make the tail, wherever it stands, the reader's page. Called with both locks held. */
static void catch_up(struct ring *r)
{
	struct ring_reader *rd = &r->reader;
	size_t slot;

	for (size_t i = 0; i + 1 < r->used; i++)
		ring_page_clear(ring_page_at(r, i));
	if (!r->used)
		return;
	slot = (r->head + r->used - 1) % r->nr;
	ring_page_clear(rd->page);
	r->pages[slot] = rd->page;
	rd->page = r->tail;
	r->head = (slot + 1) % r->nr;
	r->used = 0;
}

/*
 * The writer may be in the middle of an event on the tail, so the tail stays; what it holds by now
 * counts as consumed, and the writer is told to leave it.
 */
void ring_reset(struct ring *r)
{
	struct ring_reader *rd = &r->reader;
	struct ring_event ev;
	struct ring_walk walk;

	pthread_mutex_lock(&r->read_lock);
	pthread_mutex_lock(&r->lock);
	catch_up(r);
	walk = (struct ring_walk){
		.data = rd->page->data,
		.end = ring_page_commit(rd->page),
		.ts = atomic_load_explicit(&rd->page->ts, memory_order_relaxed),
	};
	*rd = (struct ring_reader){.page = rd->page, .pos = walk.end};
	while (ring_walk_next(&walk, &ev) > 0)
		rd->events++;
	rd->ts = walk.ts;
	r->base.events = r->left.events + rd->events;
	r->base.bytes = r->left.bytes + rd->pos;
	r->overrun = (struct ring_count){0};
	r->dropped = 0;
	r->generation++;
	atomic_fetch_or_explicit(&r->control, RING_CTL_RESET, memory_order_release);
	pthread_mutex_unlock(&r->lock);
	pthread_mutex_unlock(&r->read_lock);
}

/*
 * Fill pages[nr] from the present pages, the newest of them first to stay, and then from spare.
 * Those left over come back in spare: empty ones, else the oldest. Called with lock held.
 */
static void exchange_pages(struct ring *r, struct ring_page **pages, size_t nr,
			   struct ring_page **spare)
{
	size_t kept = r->nr < nr ? r->nr : nr;
	size_t lost = r->used > nr ? r->used - nr : 0;

	for (size_t i = 0; i < lost; i++) {
		struct ring_page *p = ring_page_at(r, i);

		r->overrun.events += atomic_load_explicit(&p->entries, memory_order_relaxed);
		r->overrun.bytes += ring_page_commit(p);
	}
	for (size_t i = 0; i < kept; i++)
		pages[i] = ring_page_at(r, lost + i);
	for (size_t i = kept; i < nr; i++)
		pages[i] = spare[i - kept];
	for (size_t i = kept; i < r->nr; i++)
		spare[i - kept] = ring_page_at(r, lost + i);
	r->used -= lost;
	r->head = 0;
	r->nr = nr;
}

int ring_resize(struct ring *r, size_t bytes)
{
	size_t nr = nr_pages(bytes), old, differ;
	struct ring_page **pages, **spare, **before;
	int err = -ENOMEM;

	if (bytes > PTRDIFF_MAX)
		return -EINVAL;
	pthread_mutex_lock(&r->resize_lock);
	old = r->nr;
	differ = nr > old ? nr - old : old - nr;
	pages = calloc(nr, sizeof(*pages));
	spare = calloc(differ + 1, sizeof(*spare));
	if (!pages || !spare || (nr > old && ring_pages_alloc(spare, differ, true)))
		goto free_arrays;

	pthread_mutex_lock(&r->lock);
	exchange_pages(r, pages, nr, spare);
	before = r->pages;
	r->pages = pages;
	pthread_mutex_unlock(&r->lock);

	pages = before;
	if (nr < old)
		ring_pages_free(spare, differ);
	err = 0;
free_arrays:
	free(spare);
	free(pages);
	pthread_mutex_unlock(&r->resize_lock);
	return err;
}

size_t ring_size(const struct ring *r)
{
	return r->nr * RING_PAGE_DATA;
}

void ring_get_stats(struct ring *r, struct ring_stats *st)
{
	struct ring_count written;
	struct ring_page *oldest;

	pthread_mutex_lock(&r->read_lock);
	pthread_mutex_lock(&r->lock);
	written = r->left;
	written.bytes += ring_page_commit(r->tail);
	written.events += atomic_load_explicit(&r->tail->entries, memory_order_relaxed);
	/* The kernel does not look at what is unread of the reader's page
	 * (ring_buffer_oldest_event_ts). */
	oldest = r->used ? ring_page_at(r, 0) : r->tail;
	*st = (struct ring_stats){
		.entries =
			written.events - r->base.events - r->overrun.events - r->reader.read.events,
		.bytes = written.bytes - r->base.bytes - r->overrun.bytes - r->reader.read.bytes,
		.overrun = r->overrun.events,
		.oldest_ts = atomic_load_explicit(&oldest->ts, memory_order_relaxed),
		.dropped = r->dropped,
		.read = r->reader.read.events,
	};
	pthread_mutex_unlock(&r->lock);
	pthread_mutex_unlock(&r->read_lock);
}

bool ring_filled(struct ring *r, unsigned int percent)
{
	bool filled;

	pthread_mutex_lock(&r->lock);
	filled = (r->used ? r->used : 1) * 100 >= percent * r->nr;
	pthread_mutex_unlock(&r->lock);
	return filled;
}
