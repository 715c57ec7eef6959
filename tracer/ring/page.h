/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * page.h - the sub-buffer page format: how one event is laid down and how a page is walked.
 *
 * An event is a 32-bit word (5 bits type_len, 27 bits time delta, low bits first) and what follows
 * it (struct ring_buffer_event in include/linux/ring_buffer.h, 6.1):
 *
 *   type_len 1..28  type_len * 4 bytes of data
 *   type_len 0      u32 with 4 + the bytes of data, then the data
 *   PADDING         u32 with the bytes that follow it plus 4; with a delta of 0 the rest of the
 * page TIME_EXTEND     u32 with bits 27..58 of the delta; adds to the time, belongs to what follows
 *   TIME_STAMP      the same, but the low 59 bits of the time itself
 *
 * The delta is the time since the event before it, for the first one since the page's time stamp.
 */
#ifndef HVTRACE_TRACER_RING_PAGE_H
#define HVTRACE_TRACER_RING_PAGE_H

#include "tracer/ring/ring.h"

#include <string.h>

enum ring_type {
	RING_TYPE_DATA_MAX = 28,
	RING_TYPE_PADDING = 29,
	RING_TYPE_TIME_EXTEND = 30,
	RING_TYPE_TIME_STAMP = 31,
};

#define RING_DELTA_BITS	 27
#define RING_EXTEND_BITS (RING_DELTA_BITS + 32)
#define RING_EVENT_HDR	 4
#define RING_EVENT_MIN	 8
#define RING_EXTEND_SIZE 8
#define RING_SMALL_DATA	 (RING_TYPE_DATA_MAX * 4)

/*
 * Bytes that an event with len bytes of data takes, header included, without TIME_EXTEND. Never
 * 12: the kernel keeps room to turn any event into a TIME_EXTEND and padding, which is at least
 * 8 bytes (rb_calculate_event_length).
 */
static inline uint32_t ring_event_size(size_t len)
{
	size_t size = RING_EVENT_HDR + (len ? len : 1);

	if (len > RING_SMALL_DATA)
		size += 4;
	size = (size + 3) & ~(size_t)3;
	if (size == RING_EXTEND_SIZE + 4)
		size += 4;
	return (uint32_t)size;
}

static inline void ring_put_word(uint8_t *at, uint32_t type_len, uint32_t delta)
{
	uint32_t word = type_len | delta << 5;

	memcpy(at, &word, sizeof(word));
}

static inline void ring_put_u32(uint8_t *at, uint32_t value)
{
	memcpy(at, &value, sizeof(value));
}

/* Write the header of an event of size bytes (from ring_event_size()); returns where its data goes.
 */
static inline uint8_t *ring_put_event(uint8_t *at, uint32_t size, uint32_t delta)
{
	uint32_t body = size - RING_EVENT_HDR;

	if (body <= RING_SMALL_DATA) {
		ring_put_word(at, body / 4, delta);
		return at + RING_EVENT_HDR;
	}
	ring_put_word(at, 0, delta);
	ring_put_u32(at + RING_EVENT_HDR, body);
	return at + RING_EVENT_HDR + 4;
}

/* A place between two events of a page's data. */
struct ring_walk {
	const uint8_t *data;
	uint32_t pos, end; /* bytes from data */
	uint64_t ts;	   /* of the event before pos */
};

/*
 * Step over the next data event: 1 with it in *ev (lost is 0), 0 when there is none before the
 * end, -EINVAL when the bytes are no events. After 0 and -EINVAL pos is at the end. Any bytes may
 * be walked: nothing outside [pos, end) is read.
 */
int ring_walk_next(struct ring_walk *w, struct ring_event *ev);

#define RING_LOST_UNKNOWN UINT64_MAX

/*
 * Walk a page as ring_read_page() and the kernel's trace_pipe_raw give it. *lost gets the number
 * of events lost before its first one, or RING_LOST_UNKNOWN. 0, or -EINVAL: not such a page.
 */
int ring_walk_page(struct ring_walk *w, const void *page, uint64_t *lost);
/*
 * The same of a page of size bytes, whoever has made it: kernels since 6.8 have some of several
 * times RING_PAGE_SIZE.
 */
int ring_walk_subbuf(struct ring_walk *w, const void *page, size_t size, uint64_t *lost);

/* Fill in the head of a page and zero what is behind its len bytes of data; lost as in the kernel,
 * or RING_LOST_UNKNOWN. */
void ring_finish_page(void *page, uint64_t ts, uint32_t len, uint64_t lost);

#endif
