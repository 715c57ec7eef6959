// SPDX-License-Identifier: GPL-2.0-or-later
/* test-merge.c - several rings as one sequence. */
#include "tests/seed.h"
#include "tests/unit/ring-check.h"

#include "tracer/ring/merge.h"

enum { CPUS = 4 };

static void put(struct ring *r, uint64_t ts, uint32_t value)
{
	void *data = ring_reserve(r, sizeof(value), ts);

	assert_non_null(data);
	memcpy(data, &value, sizeof(value));
	ring_commit(r);
}

static void expect(struct merge *m, uint64_t ts, unsigned int cpu, uint64_t lost)
{
	struct ring_event ev;
	unsigned int got;
	struct ring_event peek;

	assert_true(merge_peek(m, &peek, &got));
	assert_int_equal(peek.ts, ts);
	assert_int_equal(got, cpu);
	assert_int_equal(peek.lost, lost);
	assert_memory_equal(peek.data, &(uint32_t){cpu}, sizeof(uint32_t));
	assert_true(merge_next(m, &ev, &got));
	assert_int_equal(ev.ts, ts);
	assert_int_equal(got, cpu);
	assert_int_equal(ev.lost, lost);
	merge_peek(m, &peek, &got); /* the data must stay */
	assert_memory_equal(ev.data, &(uint32_t){cpu}, sizeof(uint32_t));
}

static void check_order(bool consume)
{
	struct ring *rings[CPUS] = {ring_new(0), NULL, ring_new(0), ring_new(0)};
	struct merge *m = merge_new(rings, CPUS, consume);
	struct ring_event ev;
	unsigned int cpu;

	assert_false(merge_next(m, &ev, &cpu));
	assert_false(merge_peek(m, &ev, &cpu));
	put(rings[2], 10, 2);
	put(rings[0], 20, 0);
	put(rings[3], 10, 3);
	put(rings[2], 20, 2);
	put(rings[0], 20, 0);
	assert_int_equal(merge_peek(m, &ev, &cpu), consume); /* written after the merge began */
	merge_extend(m, MERGE_ALL);
	expect(m, 10, 2, 0);
	expect(m, 10, 3, 0);
	expect(m, 20, 0, 0);
	expect(m, 20, 0, 0);
	expect(m, 20, 2, 0);
	assert_false(merge_peek(m, &ev, &cpu));
	put(rings[3], 15, 3); /* late: it was not there when 20 was */
	put(rings[0], 30, 0);
	merge_extend(m, MERGE_ALL);
	expect(m, 15, 3, 0);
	expect(m, 30, 0, 0);
	assert_false(merge_next(m, &ev, &cpu));
	merge_free(m);

	m = merge_new(rings, CPUS, true);
	assert_int_equal(merge_next(m, &ev, &cpu), !consume);
	merge_free(m);
	for (int i = 0; i < CPUS; i++)
		ring_free(rings[i]);
}

static void test_order(void **state)
{
	(void)state;
	check_order(false);
	check_order(true);
}

/* What comes while the events that were there are read does not keep the reader from its end. */
static void test_end(void **state)
{
	struct ring *ring = ring_new(0);
	struct merge *m;
	struct ring_event ev;
	unsigned int cpu;
	uint64_t ts = 0;

	(void)state;
	while (ts < 600)
		put(ring, ++ts, 0);
	m = merge_new(&ring, 1, false);
	for (uint64_t i = 1; i <= 600; i++) {
		expect(m, i, 0, 0);
		if (i % 2)
			put(ring, ++ts, 0);
	}
	assert_false(merge_next(m, &ev, &cpu));
	merge_extend(m, MERGE_ALL);
	for (uint64_t i = 601; i <= ts; i++)
		expect(m, i, 0, 0);
	assert_false(merge_next(m, &ev, &cpu));

	/* All that was there is overwritten before it is read: then there is nothing to read. */
	for (int i = 0; i < 10; i++)
		put(ring, ++ts, 0);
	merge_extend(m, MERGE_ALL);
	for (int i = 0; i < 3 * 510; i++)
		put(ring, ++ts, 0);
	assert_false(merge_next(m, &ev, &cpu));
	merge_extend(m, MERGE_ALL);
	assert_true(merge_next(m, &ev, &cpu));
	assert_true(ev.lost > 10);

	/* And after a reset only what is new. */
	ring_reset(ring);
	merge_extend(m, MERGE_ALL);
	assert_false(merge_next(m, &ev, &cpu));
	put(ring, 5, 0);
	merge_extend(m, MERGE_ALL);
	expect(m, 5, 0, 0);
	assert_false(merge_next(m, &ev, &cpu));
	merge_free(m);
	ring_free(ring);
}

/* Another consumer takes what this one has seen. */
static void test_two_consumers(void **state)
{
	struct ring *ring = ring_new(0);
	struct merge *a = merge_new(&ring, 1, true), *b = merge_new(&ring, 1, true);
	struct ring_event ev;
	unsigned int cpu;

	(void)state;
	put(ring, 1, 0);
	put(ring, 2, 0);
	assert_true(merge_peek(a, &ev, &cpu));
	assert_int_equal(ev.ts, 1);
	assert_true(merge_next(b, &ev, &cpu));
	assert_int_equal(ev.ts, 1);
	assert_true(merge_take(a, &ev, cpu));
	assert_int_equal(ev.ts, 2);
	assert_false(merge_take(a, &ev, cpu));
	merge_free(a);
	merge_free(b);
	ring_free(ring);
}

/* Lost events are told with the CPU that lost them. */
static void test_lost(void **state)
{
	struct ring *rings[2] = {ring_new(0), ring_new(0)};
	struct merge *m = merge_new(rings, 2, true);
	uint64_t ts = 0;

	(void)state;
	put(rings[0], 5000, 0);
	for (int i = 0; i < 3 * 510; i++) /* 8 bytes each: three pages, of which two stay */
		put(rings[1], ++ts, 1);
	expect(m, 511, 1, 510);
	for (uint64_t t = 512; t <= ts; t++)
		expect(m, t, 1, 0);
	expect(m, 5000, 0, 0);
	merge_free(m);
	ring_free(rings[0]);
	ring_free(rings[1]);
}

/* Random times on several rings come out sorted, and all of them. */
static void test_random(void **state)
{
	struct ring *rings[CPUS];
	struct ring_event ev;
	uint64_t last = 0;
	unsigned int cpu, last_cpu = 0, nr = 0;
	uint64_t seed = (uint64_t)test_seed() << 32;
	struct merge *m;

	(void)state;
	for (uint32_t i = 0; i < CPUS; i++) {
		uint64_t ts = 0;

		rings[i] = ring_new(20 * RING_PAGE_DATA);
		for (uint64_t n = 0; n < 3000; n++)
			put(rings[i], ts += mix(seed ^ (i << 16 | n)) % 4, i);
	}
	m = merge_new(rings, CPUS, false);
	while (merge_next(m, &ev, &cpu)) {
		assert_true(ev.ts > last || (ev.ts == last && cpu >= last_cpu));
		assert_memory_equal(ev.data, &(uint32_t){cpu}, sizeof(uint32_t));
		last = ev.ts;
		last_cpu = cpu;
		nr++;
	}
	assert_int_equal(nr, CPUS * 3000);
	merge_free(m);
	for (int i = 0; i < CPUS; i++)
		ring_free(rings[i]);
}

/* What is later than it may be is not there; what comes meanwhile goes before it. */
static void test_until(void **state)
{
	struct ring *rings[2] = {ring_new(0), ring_new(0)};
	struct merge *m = merge_new(rings, 2, true);
	struct ring_event ev;
	unsigned int cpu;
	uint64_t ts;

	(void)state;
	put(rings[0], 10, 0);
	put(rings[0], 30, 0);
	merge_extend(m, 20);
	assert_true(merge_next(m, &ev, &cpu));
	assert_int_equal(ev.ts, 10);
	assert_false(merge_peek(m, &ev, &cpu));
	assert_false(merge_next(m, &ev, &cpu));
	assert_true(merge_peek_cpu(m, &ev, 0));
	assert_int_equal(ev.ts, 30);
	assert_true(ring_next_time(rings[0], &ts));
	assert_int_equal(ts, 30);
	assert_false(ring_next_time(rings[1], &ts));
	put(rings[1], 25, 1);
	merge_extend(m, 30);
	expect(m, 25, 1, 0);
	expect(m, 30, 0, 0);
	assert_false(merge_next(m, &ev, &cpu));
	assert_false(ring_next_time(rings[0], &ts));
	assert_int_equal(ring_last_time(rings[0]), 30);
	ring_reset(rings[0]);
	assert_int_equal(ring_last_time(rings[0]), 0);
	merge_free(m);
	ring_free(rings[0]);
	ring_free(rings[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),	      cmocka_unit_test(test_end),
		cmocka_unit_test(test_two_consumers), cmocka_unit_test(test_lost),
		cmocka_unit_test(test_random),	      cmocka_unit_test(test_until),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
