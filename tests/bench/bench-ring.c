// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * bench-ring.c - function records per second that one thread writes into a ring buffer of the
 * default size: alone, and while another thread consumes or looks.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "tracer/ring/entry.h"
#include "tracer/ring/ring.h"

enum { ROUNDS = 5, RECORDS = 20 * 1000 * 1000, BUFFER = 1410 * 1024 };

enum reader { READER_NONE, READER_CONSUME, READER_LOOK, READER_RAW };

struct bench {
	struct ring *ring;
	enum reader reader;
	atomic_bool stop;
};

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static void write_records(struct ring *r)
{
	for (uint64_t i = 0; i < RECORDS; i++) {
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
		start = now();
		write_records(b.ring);
		took = now() - start;
		atomic_store(&b.stop, true);
		if (reader != READER_NONE)
			pthread_join(thread, NULL);
	}
	ring_free(b.ring);
	return took > 0 ? RECORDS / took : 0;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

int main(void)
{
	static const char *const names[] = {"alone", "beside a consumer", "beside a looker",
					    "beside a raw consumer"};

	for (int reader = READER_NONE; reader <= READER_RAW; reader++) {
		double rate[ROUNDS];

		for (int i = 0; i < ROUNDS; i++)
			rate[i] = run((enum reader)reader);
		qsort(rate, ROUNDS, sizeof(rate[0]), compare);
		printf("ring write %-22s %7.1f M records/s (median of %d, %.1f to %.1f)\n",
		       names[reader], rate[ROUNDS / 2] / 1e6, ROUNDS, rate[0] / 1e6,
		       rate[ROUNDS - 1] / 1e6);
	}
	return 0;
}
