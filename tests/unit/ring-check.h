/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ring-check.h - events whose every byte and time follow from their number, so that a reader can
 * check them without knowing the writer.
 */
#ifndef HVTRACE_TESTS_RING_CHECK_H
#define HVTRACE_TESTS_RING_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tracer/ring/page.h"

/* A fixed mapping from x to 64 well-mixed bits (splitmix64). */
static inline uint64_t mix(uint64_t x)
{
	x += UINT64_C(0x9e3779b97f4a7c15);
	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

struct series {
	uint64_t seed;
	size_t max_len;	   /* of an event, at least 12 */
	unsigned int jump; /* one event in so many comes after more than 2^27 ns; 0: none */
};

static inline size_t series_len(const struct series *s, uint64_t nr)
{
	uint64_t r = mix(s->seed ^ nr * 3);

	/* Mostly small, now and then anything. */
	return 12 + r % (r >> 60 ? s->max_len < 64 ? s->max_len - 11 : 53 : s->max_len - 11);
}

static inline uint64_t series_delta(const struct series *s, uint64_t nr)
{
	uint64_t r = mix(s->seed ^ (nr * 3 + 1));

	return s->jump && !(r % s->jump) ? (r >> 8) % (UINT64_C(1) << 40) : (r >> 8) % 5000;
}

/* Event: its number, its time, then bytes that follow from the number. */
static inline void series_fill(const struct series *s, uint64_t nr, uint64_t ts, uint8_t *data,
			       size_t len)
{
	uint32_t low = (uint32_t)nr;

	memcpy(data, &low, sizeof(low));
	memcpy(data + 4, &ts, sizeof(ts));
	for (size_t i = 12; i < len; i++)
		data[i] = (uint8_t)mix(s->seed ^ nr ^ (uint64_t)i << 40);
}

struct series_writer {
	struct series s;
	uint64_t nr, ts;
};

/* Write the next event of the series. False: it was refused; the series stays where it is. */
static inline bool series_write(struct series_writer *w, struct ring *r)
{
	size_t len = series_len(&w->s, w->nr);
	uint64_t ts = w->ts + series_delta(&w->s, w->nr);
	uint8_t *data = ring_reserve(r, len, ts);

	if (!data)
		return false;
	series_fill(&w->s, w->nr, ts, data, len);
	ring_commit(r);
	w->nr++;
	w->ts = ts;
	return true;
}

/* Which event of the series it is (below 2^32); -1 when it is none. */
static inline int64_t series_check(const struct series *s, const struct ring_event *ev)
{
	uint8_t want[RING_PAGE_SIZE];
	uint32_t nr;
	uint64_t ts;
	size_t len;

	if (ev->len < 12)
		return -1;
	memcpy(&nr, ev->data, sizeof(nr));
	memcpy(&ts, (const uint8_t *)ev->data + 4, sizeof(ts));
	len = series_len(s, nr);
	if (ts != ev->ts || len > ev->len || ev->len > len + 8)
		return -1;
	series_fill(s, nr, ts, want, len);
	return memcmp(want, ev->data, len) ? -1 : (int64_t)nr;
}

#endif
