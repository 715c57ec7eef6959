// SPDX-License-Identifier: GPL-2.0-or-later
/* page.c - reads and finishes sub-buffer pages, trusting none of their bytes. */
#include "tracer/ring/page.h"

#include <errno.h>

#define ABS_BITS_LOST (UINT64_C(0x1f) << RING_EXTEND_BITS) /* of a time stamp (kernel: TS_MSB) */

struct event_head {
	uint32_t type_len;
	uint64_t delta; /* of 27 bits, or 59 for the two time types */
	uint32_t size;	/* of the whole event */
	uint32_t skip;	/* from its start to its data */
};

static uint32_t get_u32(const uint8_t *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

/* The head of the event at w->pos. False when it does not fit before the end. */
static bool read_head(const struct ring_walk *w, struct event_head *h)
{
	uint32_t left = w->end - w->pos;
	uint32_t word, more;

	if (left < RING_EVENT_HDR)
		return false;
	word = get_u32(w->data + w->pos);
	h->type_len = word & 31;
	h->delta = word >> 5;
	h->skip = RING_EVENT_HDR;
	if (h->type_len > 0 && h->type_len <= RING_TYPE_DATA_MAX) {
		h->size = RING_EVENT_HDR + h->type_len * 4;
		return h->size <= left;
	}
	if (h->type_len == RING_TYPE_PADDING && !h->delta) {
		h->size = left;
		return true;
	}

	if (left < RING_EVENT_HDR + 4)
		return false;
	more = get_u32(w->data + w->pos + RING_EVENT_HDR);
	if (h->type_len >= RING_TYPE_TIME_EXTEND) {
		h->delta |= (uint64_t)more << RING_DELTA_BITS;
		h->size = RING_EXTEND_SIZE;
		return true;
	}
	if (more < 4 || more > left - RING_EVENT_HDR)
		return false;
	h->size = RING_EVENT_HDR + more;
	h->skip = RING_EVENT_HDR + 4;
	return true;
}

/* A TIME_STAMP leaves out the top 5 bits: they are those of the time before it, or one more. */
static uint64_t absolute_ts(uint64_t low, uint64_t before)
{
	uint64_t ts = low | (before & ABS_BITS_LOST);

	if ((before & ABS_BITS_LOST) && ts < before)
		ts += UINT64_C(1) << RING_EXTEND_BITS;
	return ts;
}

int ring_walk_next(struct ring_walk *w, struct ring_event *ev)
{
	while (w->pos < w->end) {
		const uint8_t *at = w->data + w->pos;
		struct event_head h;

		if (!read_head(w, &h)) {
			w->pos = w->end;
			return -EINVAL;
		}
		w->pos += h.size;
		switch (h.type_len) {
		case RING_TYPE_PADDING:
			break;
		case RING_TYPE_TIME_EXTEND:
			w->ts += h.delta;
			break;
		case RING_TYPE_TIME_STAMP:
			w->ts = absolute_ts(h.delta, w->ts);
			break;
		default:
			w->ts += h.delta;
			ev->ts = w->ts;
			ev->data = at + h.skip;
			ev->len = h.size - h.skip;
			ev->lost = 0;
			return 1;
		}
	}
	return 0;
}

int ring_walk_subbuf(struct ring_walk *w, const void *page, size_t size, uint64_t *lost)
{
	uint64_t commit;

	*lost = 0;
	w->pos = w->end = 0;
	if (size < RING_PAGE_HDR)
		return -EINVAL;
	size -= RING_PAGE_HDR;
	memcpy(&w->ts, page, sizeof(w->ts));
	memcpy(&commit, (const uint8_t *)page + sizeof(w->ts), sizeof(commit));
	w->data = (const uint8_t *)page + RING_PAGE_HDR;
	w->end = commit & RING_COMMIT_MASK;
	if (w->end > size || w->end % 4) {
		w->end = 0;
		return -EINVAL;
	}
	if (!(commit & RING_MISSED_EVENTS))
		return 0;
	*lost = RING_LOST_UNKNOWN;
	if (commit & RING_MISSED_STORED) {
		if (size - w->end < sizeof(*lost)) {
			w->end = 0;
			return -EINVAL;
		}
		memcpy(lost, w->data + w->end, sizeof(*lost));
	}
	return 0;
}

int ring_walk_page(struct ring_walk *w, const void *page, uint64_t *lost)
{
	return ring_walk_subbuf(w, page, RING_PAGE_SIZE, lost);
}

void ring_finish_page(void *page, uint64_t ts, uint32_t len, uint64_t lost)
{
	uint8_t *data = (uint8_t *)page + RING_PAGE_HDR;
	uint64_t commit = len;
	uint32_t end = len;

	/* The kernel adds (int)(1 << 31), which widens with its sign (ring_buffer_read_page). */
	if (lost) {
		commit += (uint64_t)(int64_t)INT32_MIN;
		if (lost != RING_LOST_UNKNOWN && RING_PAGE_DATA - len >= sizeof(lost)) {
			memcpy(data + len, &lost, sizeof(lost));
			commit += RING_MISSED_STORED;
			end += sizeof(lost);
		}
	}
	memcpy(page, &ts, sizeof(ts));
	memcpy((uint8_t *)page + sizeof(ts), &commit, sizeof(commit));
	memset(data + end, 0, RING_PAGE_DATA - end);
}
