// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * bench-ring.c - function records per second that one thread writes into a ring buffer of the
 * default size: alone, and while another thread consumes or looks; and what such a record takes, as
 * a multiple of storing its bytes.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <x86intrin.h>

#include "tracer/ring/entry.h"
#include "tracer/ring/ring.h"
#include "tests/bench/bench.h"

enum { ROUNDS = 5, RECORDS = 10 * 1000 * 1000, BUFFER = 1410 * 1024 };
enum { RATIOS = 31, TRIES = 10, TRY_RECORDS = 20 * 1000 };

enum reader { READER_NONE, READER_CONSUME, READER_LOOK, READER_RAW };

struct bench {
	struct ring *ring;
	enum reader reader;
	atomic_bool stop;
};

static void write_records(struct ring *r, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		struct trace_function_entry *e = ring_reserve(r, sizeof(*e), i * 100);

		e->ent = (struct trace_entry){.type = TRACE_FN, .pid = 1};
		e->ip = UINT64_C(0xffffffff81000000) + i;
		e->parent_ip = UINT64_C(0xffffffff82000000) + i;
		ring_commit(r);
	}
}

static void *read_records(void *arg)
{
	static _Thread_local uint8_t page[RING_PAGE_SIZE];
	struct bench *b = arg;
	struct ring_cursor *c =
		b->reader == READER_LOOK ? ring_look(b->ring) : ring_consume(b->ring);
	struct ring_event ev;

	while (c && !atomic_load_explicit(&b->stop, memory_order_relaxed)) {
		if (b->reader == READER_RAW)
			ring_read_page(b->ring, page, sizeof(page), true);
		else
			ring_next(c, &ev);
	}
	ring_cursor_free(c);
	return NULL;
}

/* Records per second, or 0 when there is no memory. */
static double run(enum reader reader)
{
	struct bench b = {.ring = ring_new(BUFFER), .reader = reader};
	pthread_t thread;
	double start, took = 0;

	if (!b.ring)
		return 0;
	if (reader == READER_NONE || !pthread_create(&thread, NULL, read_records, &b)) {
		start = bench_now_ns();
		write_records(b.ring, RECORDS);
		took = (bench_now_ns() - start) / 1e9;
		atomic_store(&b.stop, true);
		if (reader != READER_NONE)
			pthread_join(thread, NULL);
	}
	ring_free(b.ring);
	return took > 0 ? RECORDS / took : 0;
}

static const char *const names[] = {"alone", "beside a consumer", "beside a looker",
				    "beside a raw consumer"};

static void measure(enum reader reader)
{
	double rate[ROUNDS];

	for (int i = 0; i < ROUNDS; i++)
		rate[i] = run(reader);
	bench_median(rate, ROUNDS);
	printf("ring write %-22s %7.1f M records/s (median of %d, %.1f to %.1f)\n", names[reader],
	       rate[ROUNDS / 2] / 1e6, ROUNDS, rate[0] / 1e6, rate[ROUNDS - 1] / 1e6);
}

/* --- against the least ----------------------------------------------------------------------- */

/* What no tracer can do without: the time, and as many bytes in an array of the same size. */
static void store_records(uint64_t *words, unsigned int n)
{
	enum { WORDS = sizeof(struct trace_function_entry) / sizeof(*words) };
	volatile uint64_t *at = words;

	while (n--) {
		uint64_t tsc = __rdtsc();

		for (unsigned int word = 0; word < WORDS; word++)
			at[word] = tsc;
		at += WORDS;
		if (at + WORDS > words + BUFFER / sizeof(*words))
			at = words;
	}
}

static double least_ns(uint64_t *words)
{
	double start = bench_clock_ns(CLOCK_THREAD_CPUTIME_ID);

	store_records(words, TRY_RECORDS);
	return (bench_clock_ns(CLOCK_THREAD_CPUTIME_ID) - start) / TRY_RECORDS;
}

static double ring_ns(struct ring *r)
{
	double start = bench_clock_ns(CLOCK_THREAD_CPUTIME_ID);

	write_records(r, TRY_RECORDS);
	return (bench_clock_ns(CLOCK_THREAD_CPUTIME_ID) - start) / TRY_RECORDS;
}

/* The best of short tries in turn; other load on the host must not count. */
static double ratio(struct ring *r, uint64_t *words)
{
	double least = 1e9, ring = 1e9;

	for (int i = 0; i < TRIES; i++) {
		bench_least(&least, least_ns(words));
		bench_least(&ring, ring_ns(r));
	}
	return ring / least;
}

static void compare_with_least(void)
{
	struct ring *r = ring_new(BUFFER);
	uint64_t *words = calloc(1, BUFFER);
	double ratios[RATIOS], median;

	if (!r || !words)
		exit(1);
	for (int i = 0; i < RATIOS; i++)
		ratios[i] = ratio(r, words);
	median = bench_median(ratios, RATIOS);
	printf("ring write, of rdtsc and such a store  %7.2f (median of %d, %.2f to %.2f)\n",
	       median, RATIOS, ratios[0], ratios[RATIOS - 1]);
	bench_figure("ring.write", median);
	free(words);
	ring_free(r);
}

int main(void)
{
	for (int reader = READER_NONE; reader <= READER_RAW; reader++)
		measure((enum reader)reader);
	compare_with_least();
	return 0;
}
