// SPDX-License-Identifier: GPL-2.0-or-later
/* test-ring.c - the ring buffer with one thread: what goes in comes out, and the counts are exact.
 */
#include "tests/unit/ring-check.h"

#include <errno.h>
#include <stdio.h>

static struct ring *new_ring(size_t pages)
{
	struct ring *r = ring_new(pages * RING_PAGE_DATA);

	assert_non_null(r);
	return r;
}

static void put(struct ring *r, uint64_t ts, size_t len, uint8_t fill)
{
	void *data = ring_reserve(r, len, ts);

	assert_non_null(data);
	memset(data, fill, len);
	ring_commit(r);
}

static void expect(struct ring_cursor *c, uint64_t ts, size_t stored, uint8_t fill)
{
	struct ring_event ev;

	assert_true(ring_next(c, &ev));
	assert_int_equal(ev.ts, ts);
	assert_int_equal(ev.len, stored);
	assert_int_equal(ev.lost, 0);
	assert_int_equal(*(const uint8_t *)ev.data, fill);
}

static struct ring_stats stats(struct ring *r)
{
	struct ring_stats st;

	ring_get_stats(r, &st);
	return st;
}

/* How the kernel stores a length: rb_calculate_event_length() and rb_update_event(). */
static size_t stored_len(size_t len)
{
	size_t up = (len + 3) / 4 * 4;

	return !len ? 4 : up == 8 ? 12 : up;
}

static void test_every_length(void **state)
{
	struct ring *r = new_ring(2);
	struct ring_cursor *c = ring_consume(r);
	uint8_t want[RING_MAX_DATA];
	struct ring_event ev;

	(void)state;
	for (size_t len = 1; len <= RING_MAX_DATA; len++) {
		memset(want, (int)(len % 251), len);
		put(r, len, len, (uint8_t)(len % 251));
		assert_true(ring_next(c, &ev));
		assert_int_equal(ev.ts, len);
		assert_int_equal(ev.len, stored_len(len));
		assert_memory_equal(ev.data, want, len);
		assert_false(ring_next(c, &ev));
	}
	assert_non_null(ring_reserve(r, 0, RING_PAGE_SIZE));
	ring_commit(r);
	assert_true(ring_next(c, &ev));
	assert_int_equal(ev.len, 4);
	assert_null(ring_reserve(r, RING_MAX_DATA + 1, RING_PAGE_SIZE));
	assert_null(ring_reserve(r, SIZE_MAX, RING_PAGE_SIZE));
	assert_int_equal(stats(r).entries, 0);
	assert_int_equal(stats(r).read, RING_MAX_DATA + 1);
	ring_cursor_free(c);
	ring_free(r);
}

static void test_time(void **state)
{
	static const uint64_t delta[] = {
		0,
		1,
		(UINT64_C(1) << 27) - 1,
		UINT64_C(1) << 27,
		(UINT64_C(1) << 27) + 1,
		UINT64_C(0xabcdef) << 20,
		(UINT64_C(1) << 59) - 1,
		UINT64_C(1) << 59,
		UINT64_C(1) << 63,
	};
	struct ring *r = new_ring(8);
	struct ring_cursor *c = ring_look(r);
	uint64_t ts = 5;

	(void)state;
	for (unsigned int i = 0; i < 9; i++)
		put(r, ts += delta[i], 24, (uint8_t)i);
	put(r, 17, 24, 9); /* earlier: as the last one */
	ts = 5;
	for (unsigned int i = 0; i < 9; i++)
		expect(c, ts += delta[i], 24, (uint8_t)i);
	expect(c, ts, 24, 9);
	ring_cursor_free(c);
	ring_free(r);
}

static void test_discard(void **state)
{
	struct ring *r = new_ring(2);
	struct ring_cursor *c = ring_consume(r);
	struct ring_event ev;

	(void)state;
	assert_non_null(ring_reserve(r, 24, 100));
	ring_discard(r);
	assert_false(ring_peek(c, &ev));
	put(r, 50, 24, 1); /* the discarded time does not count either */
	assert_non_null(ring_reserve(r, 4000, UINT64_C(1) << 40));
	ring_discard(r);
	put(r, 60, 24, 2);
	assert_int_equal(stats(r).entries, 2);
	assert_int_equal(stats(r).bytes, 56);
	expect(c, 50, 24, 1);
	expect(c, 60, 24, 2);
	assert_false(ring_next(c, &ev));
	ring_cursor_free(c);
	ring_free(r);
}

static void test_record_off(void **state)
{
	struct ring *r = new_ring(2);

	(void)state;
	put(r, 1, 24, 1);
	ring_record(r, false);
	assert_null(ring_reserve(r, 24, 2));
	ring_record(r, true);
	put(r, 3, 24, 3);
	assert_int_equal(stats(r).entries, 2);
	ring_free(r);
}

/* 145 events of 28 bytes fill a page: 4060 bytes, and 20 of padding that count too. */
enum { PER_PAGE = 145 };

static void fill_pages(struct ring *r, uint64_t *ts, unsigned int pages)
{
	for (unsigned int i = 0; i < pages * PER_PAGE; i++) {
		++*ts;
		put(r, *ts, 24, (uint8_t)*ts);
	}
}

static void test_overwrite(void **state)
{
	struct ring *r = new_ring(3);
	struct ring_cursor *c = ring_consume(r);
	struct ring_event ev;
	struct ring_stats st;
	uint64_t ts = 0;

	(void)state;
	fill_pages(r, &ts, 5);
	st = stats(r);
	assert_int_equal(st.overrun, 2 * PER_PAGE);
	assert_int_equal(st.entries, 3 * PER_PAGE);
	assert_int_equal(st.bytes, 2 * RING_PAGE_DATA + PER_PAGE * 28);
	assert_int_equal(st.oldest_ts, 2 * PER_PAGE + 1);
	assert_int_equal(st.commit_overrun, 0);
	assert_true(ring_peek(c, &ev));
	assert_int_equal(ev.lost, 2 * PER_PAGE);
	assert_true(ring_next(c, &ev));
	assert_int_equal(ev.lost, 2 * PER_PAGE);
	for (uint64_t t = 2 * PER_PAGE + 2; t <= ts; t++)
		expect(c, t, 24, (uint8_t)t);
	assert_false(ring_next(c, &ev));
	st = stats(r);
	assert_int_equal(st.entries, 0);
	assert_int_equal(st.bytes, 0);
	assert_int_equal(st.read, 3 * PER_PAGE);
	ring_cursor_free(c);
	ring_free(r);
}

static void test_produce_consume(void **state)
{
	struct ring *r = new_ring(2);
	struct ring_cursor *c = ring_consume(r);
	uint64_t ts = 0;

	(void)state;
	ring_set_overwrite(r, false);
	fill_pages(r, &ts, 2);
	for (int i = 0; i < 7; i++)
		assert_null(ring_reserve(r, 24, ts));
	/* The page counts as full from the first refusal on (rb_reset_tail). */
	assert_null(ring_reserve(r, 4, ts));
	assert_int_equal(stats(r).dropped, 8);
	assert_int_equal(stats(r).overrun, 0);
	assert_int_equal(stats(r).entries, 2 * PER_PAGE);
	assert_int_equal(stats(r).bytes, 2 * RING_PAGE_DATA);
	for (uint64_t t = 1; t <= PER_PAGE; t++)
		expect(c, t, 24, (uint8_t)t);
	ts++;
	put(r, ts, 24, (uint8_t)ts);
	for (uint64_t t = PER_PAGE + 1; t <= ts; t++)
		expect(c, t, 24, (uint8_t)t);
	ring_set_overwrite(r, true);
	fill_pages(r, &ts, 9);
	assert_int_equal(stats(r).dropped, 8);
	ring_cursor_free(c);
	ring_free(r);
}

static void test_reset(void **state)
{
	struct ring *r = new_ring(3);
	struct ring_cursor *look = ring_look(r), *c = ring_consume(r);
	struct ring_stats st, none = {0};
	struct ring_event ev;
	uint64_t ts = 1000;

	(void)state;
	for (unsigned int pages = 0; pages < 6; pages++) {
		fill_pages(r, &ts, pages);
		put(r, ++ts, 24, 0);
		assert_true(ring_next(look, &ev));
		if (pages % 2)
			assert_true(ring_next(c, &ev));
		ring_reset(r);
		st = stats(r);
		st.oldest_ts = 0; /* stays until something is written, as in the kernel */
		assert_memory_equal(&st, &none, sizeof(st));
		assert_false(ring_next(look, &ev));
		assert_false(ring_next(c, &ev));
		put(r, 7, 24, 77); /* time may start anew */
		assert_int_equal(stats(r).oldest_ts, 7);
		assert_int_equal(stats(r).entries, 1);
		assert_int_equal(stats(r).bytes, 28);
		expect(look, 7, 24, 77);
		expect(c, 7, 24, 77);
	}
	ring_cursor_free(look);
	ring_cursor_free(c);
	ring_free(r);
}

/* A reservation that is open while the buffer is reset is an event after it. */
static void test_reset_while_reserved(void **state)
{
	struct ring *r = new_ring(3);
	struct ring_cursor *c = ring_consume(r);
	void *data;

	(void)state;
	put(r, 10, 24, 1);
	data = ring_reserve(r, 24, 20);
	ring_reset(r);
	memset(data, 2, 24);
	ring_commit(r);
	put(r, 5, 24, 3);
	assert_int_equal(stats(r).entries, 2);
	expect(c, 20, 24, 2);
	expect(c, 5, 24, 3);
	ring_cursor_free(c);
	ring_free(r);
}

static void test_resize(void **state)
{
	struct ring *r = new_ring(8);
	struct ring_cursor *c;
	struct ring_event ev;
	uint64_t ts = 0;

	(void)state;
	assert_int_equal(ring_size(r), 8 * RING_PAGE_DATA);
	assert_int_equal(ring_resize(r, SIZE_MAX), -EINVAL);
	fill_pages(r, &ts, 6);
	assert_int_equal(ring_resize(r, 3 * RING_PAGE_DATA), 0);
	assert_int_equal(ring_size(r), 3 * RING_PAGE_DATA);
	assert_int_equal(stats(r).overrun, 3 * PER_PAGE);
	assert_int_equal(stats(r).entries, 3 * PER_PAGE);
	assert_int_equal(ring_resize(r, 0), 0);
	assert_int_equal(ring_size(r), 2 * RING_PAGE_DATA);
	assert_int_equal(ring_resize(r, 4 * RING_PAGE_DATA + 1), 0);
	assert_int_equal(ring_size(r), 5 * RING_PAGE_DATA);
	fill_pages(r, &ts, 3);
	assert_int_equal(stats(r).overrun, 4 * PER_PAGE);
	assert_int_equal(stats(r).entries, 5 * PER_PAGE);
	c = ring_consume(r);
	assert_true(ring_next(c, &ev));
	assert_int_equal(ev.lost, 4 * PER_PAGE);
	for (uint64_t t = 4 * PER_PAGE + 2; t <= ts; t++)
		expect(c, t, 24, (uint8_t)t);
	assert_false(ring_next(c, &ev));
	/* The writer is on the reader's page now. */
	assert_int_equal(ring_resize(r, 0), 0);
	fill_pages(r, &ts, 2);
	assert_int_equal(stats(r).entries, 2 * PER_PAGE);
	ring_cursor_free(c);
	ring_free(r);
}

/* Pages that are mapped: the first number of statm(5). */
static long mapped(void)
{
	FILE *f = fopen("/proc/self/statm", "r");
	long n;

	assert_non_null(f);
	assert_int_equal(fscanf(f, "%ld", &n), 1);
	fclose(f);
	return n;
}

/* A smaller ring takes less memory, whichever pages it keeps, and none afterwards. */
static void test_memory(void **state)
{
	const long before = mapped(), large = 4000;
	struct ring *r = new_ring((size_t)large);
	uint64_t ts = 0;

	(void)state;
	assert_in_range(mapped() - before, large, large + large / 4);
	fill_pages(r, &ts, (int)large + large / 2);
	assert_int_equal(ring_resize(r, 10 * RING_PAGE_DATA), 0);
	assert_in_range(mapped() - before, 10, large / 2);
	assert_int_equal(stats(r).entries, 10 * PER_PAGE);
	ring_free(r);
	assert_true(mapped() - before < large / 8);
}

/* The next page: it has so many events, and tells so many lost before them. */
static void expect_page(struct ring *r, unsigned int nr, uint64_t lost)
{
	uint8_t page[RING_PAGE_SIZE];
	struct ring_walk w;
	struct ring_event ev;
	uint64_t said;

	assert_true(ring_read_page(r, page, sizeof(page), false) > 0);
	assert_int_equal(ring_walk_page(&w, page, &said), 0);
	assert_int_equal(said, lost);
	for (unsigned int i = 0; i < nr; i++)
		assert_int_equal(ring_walk_next(&w, &ev), 1);
	assert_int_equal(ring_walk_next(&w, &ev), 0);
}

/* What is missing, and was not counted, is told where it is missing. */
static void test_missed(void **state)
{
	struct ring *r = new_ring(4);
	uint64_t ts = 0;

	(void)state;
	ring_missed(r);
	put(r, ++ts, 24, 1);
	expect_page(r, 1, RING_LOST_UNKNOWN);
	put(r, ++ts, 24, 2);
	expect_page(r, 1, 0);
	put(r, ++ts, 24, 3);
	ring_missed(r);
	ring_missed(r);
	put(r, ++ts, 24, 4);
	put(r, ++ts, 24, 5);
	expect_page(r, 1, 0);
	expect_page(r, 2, RING_LOST_UNKNOWN);
	/* With what is overwritten it is not known how many there are in all. */
	ring_missed(r);
	put(r, ++ts, 24, 6);
	fill_pages(r, &ts, 3);
	ring_missed(r);
	fill_pages(r, &ts, 4);
	expect_page(r, 0, 0); /* what is left of the page that was read */
	expect_page(r, PER_PAGE, RING_LOST_UNKNOWN);
	expect_page(r, PER_PAGE, 0);
	/* Nothing is recorded; and nothing of it is left. */
	ring_record(r, false);
	ring_missed(r);
	ring_record(r, true);
	ring_missed(r);
	ring_reset(r);
	ring_missed(r);
	put(r, ++ts, 24, 7);
	expect_page(r, 1, 0);
	/* Full: what did not come is no event that was dropped here. */
	ring_set_overwrite(r, false);
	while (ring_reserve(r, 24, ++ts))
		ring_commit(r);
	assert_int_equal(stats(r).dropped, 1);
	ring_missed(r);
	assert_int_equal(stats(r).dropped, 1);
	assert_null(ring_reserve(r, 24, ++ts));
	assert_int_equal(stats(r).dropped, 2);
	ring_free(r);
}

/* A looking reader tells exactly what it did not see, and disturbs nobody. */
static void test_look(void **state)
{
	struct ring *r = new_ring(4);
	struct ring_cursor *first = ring_look(r), *late, *c = ring_consume(r);
	struct ring_event ev;
	uint64_t ts = 0;

	(void)state;
	assert_false(ring_peek(first, &ev));
	put(r, ++ts, 24, 1);
	put(r, ++ts, 24, 2);
	assert_true(ring_peek(first, &ev));
	assert_int_equal(ev.ts, 1);
	expect(first, 1, 24, 1);
	expect(first, 2, 24, 2);
	assert_false(ring_next(first, &ev));
	put(r, ++ts, 24, 3);
	expect(first, 3, 24, 3);

	fill_pages(r, &ts,
		   6); /* 6 * 145 + 3 events: the last page has 3, the 3 before it are full */
	late = ring_look(r);
	assert_true(ring_next(first, &ev));
	assert_int_equal(ev.ts, 3 * PER_PAGE + 1);
	assert_int_equal(ev.lost, 3 * PER_PAGE - 3);
	assert_true(ring_next(late, &ev));
	assert_int_equal(ev.ts, 3 * PER_PAGE + 1);
	assert_int_equal(ev.lost, 0);
	assert_int_equal(stats(r).read, 0);

	/* Consumed by others, beyond the page that it has in hand: gone as well. */
	for (int i = 0; i < 2 * PER_PAGE + 5; i++)
		assert_true(ring_next(c, &ev));
	for (uint64_t t = 3 * PER_PAGE + 2; t <= 4 * PER_PAGE; t++)
		expect(first, t, 24, (uint8_t)t);
	assert_true(ring_next(first, &ev));
	assert_int_equal(ev.ts, 5 * PER_PAGE + 6);
	assert_int_equal(ev.lost, PER_PAGE + 5);
	for (uint64_t t = 5 * PER_PAGE + 7; t <= ts; t++)
		expect(first, t, 24, (uint8_t)t);
	assert_false(ring_next(first, &ev));
	ring_cursor_free(first);
	ring_cursor_free(late);
	ring_cursor_free(c);
	ring_free(r);
}

/* Consumers share one position. */
static void test_two_consumers(void **state)
{
	struct ring *r = new_ring(2);
	struct ring_cursor *a = ring_consume(r), *b = ring_consume(r);
	struct ring_event ev;

	(void)state;
	for (uint64_t t = 1; t <= 100; t++)
		put(r, t, 24, (uint8_t)t);
	for (uint64_t t = 1; t <= 100; t += 2) {
		assert_true(ring_peek(b, &ev));
		assert_int_equal(ev.ts, t);
		expect(a, t, 24, (uint8_t)t);
		expect(b, t + 1, 24, (uint8_t)(t + 1));
	}
	assert_false(ring_next(a, &ev));
	ring_cursor_free(a);
	ring_cursor_free(b);
	ring_free(r);
}

/* Pages that nobody has written to are as good as others, round and round, and are freed. */
static void test_lazy(void **state)
{
	enum { SIZE = 3 << 20 };
	struct ring *r = ring_new_lazy(SIZE);
	struct ring_cursor *c;
	struct ring_event ev;
	uint64_t ts = 0, n = 0, first;

	(void)state;
	assert_non_null(r);
	assert_int_equal(ring_size(r),
			 (SIZE + RING_PAGE_DATA - 1) / RING_PAGE_DATA * RING_PAGE_DATA);
	c = ring_consume(r);
	assert_false(ring_next(c, &ev));
	for (; ts < 2 * SIZE / 64; ts++)
		put(r, ts + 1, 64, (uint8_t)ts);
	assert_int_equal(ring_resize(r, SIZE / 2), 0);
	assert_true(ring_next(c, &ev));
	first = ev.ts;
	do
		assert_int_equal(ev.ts, first + n++);
	while (ring_next(c, &ev));
	assert_int_equal(first + n, ts + 1);
	assert_true(n > SIZE / 4 / 68);
	ring_cursor_free(c);
	ring_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_length),  cmocka_unit_test(test_time),
		cmocka_unit_test(test_discard),	      cmocka_unit_test(test_record_off),
		cmocka_unit_test(test_overwrite),     cmocka_unit_test(test_produce_consume),
		cmocka_unit_test(test_reset),	      cmocka_unit_test(test_reset_while_reserved),
		cmocka_unit_test(test_resize),	      cmocka_unit_test(test_memory),
		cmocka_unit_test(test_missed),	      cmocka_unit_test(test_look),
		cmocka_unit_test(test_two_consumers), cmocka_unit_test(test_lazy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
