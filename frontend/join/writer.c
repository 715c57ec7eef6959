// SPDX-License-Identifier: GPL-2.0-or-later
/* writer.c - see writer.h */
#include "frontend/join/writer.h"

#include <string.h>

#include "tracer/tracer.h"

void writer_begin(struct writer *w, struct journal *to, uint32_t buffer, uint32_t vcpu)
{
	w->to = to;
	w->buffer = buffer;
	w->vcpu = vcpu;
	w->nr = 0;
	w->open = false;
	w->first = w->last = w->lost = 0;
	w->late = 0;
}

static void finish_page(struct writer *w)
{
	if (!w->open)
		return;
	ring_finish_page(w->page[w->nr++], w->first, w->len, w->lost);
	w->open = false;
	w->lost = 0;
}

static int flush(struct writer *w)
{
	unsigned int nr = w->nr;

	w->nr = 0;
	return nr ? journal_put(w->to, JOURNAL_PAGES, w->buffer, w->vcpu, w->page,
				(size_t)nr * DAT_PAGE_SIZE)
		  : 0;
}

/* A page says it of what is before its first record. */
void writer_lost(struct writer *w, uint64_t lost)
{
	finish_page(w);
	w->lost = lost > UINT64_MAX - w->lost ? RING_LOST_UNKNOWN : w->lost + lost;
}

bool writer_has_room(size_t len)
{
	return len < RING_PAGE_DATA && ring_event_size(len) <= RING_PAGE_DATA;
}

static int begin_page(struct writer *w, uint64_t time)
{
	int rc = 0;

	finish_page(w);
	if (w->nr == WRITER_PAGES)
		rc = flush(w);
	w->open = true;
	w->first = w->last = time;
	w->len = 0;
	return rc;
}

uint8_t *writer_put(struct writer *w, uint64_t time, size_t len, int *rc)
{
	uint32_t size = ring_event_size(len), more;
	uint8_t *at;
	uint64_t delta;

	if (time < w->last) {
		w->late++;
		time = w->last;
	}
	delta = time - w->last;
	more = delta >> RING_DELTA_BITS ? RING_EXTEND_SIZE : 0;
	*rc = 0;
	if (!w->open || delta >> RING_EXTEND_BITS || w->len + size + more > RING_PAGE_DATA) {
		*rc = begin_page(w, time);
		delta = more = 0;
	}
	if (*rc)
		return NULL;
	at = w->page[w->nr] + RING_PAGE_HDR + w->len;
	if (more) {
		ring_put_word(at, RING_TYPE_TIME_EXTEND,
			      (uint32_t)(delta & ((UINT64_C(1) << RING_DELTA_BITS) - 1)));
		ring_put_u32(at + RING_EVENT_HDR, (uint32_t)(delta >> RING_DELTA_BITS));
		at += RING_EXTEND_SIZE;
		delta = 0;
	}
	w->len += size + more;
	w->last = time;
	/* It may have a little more room than was asked for. */
	memset(at + size - 2 * sizeof(uint32_t), 0, 2 * sizeof(uint32_t));
	return ring_put_event(at, size, (uint32_t)delta);
}

int writer_end(struct writer *w)
{
	finish_page(w);
	return flush(w);
}
