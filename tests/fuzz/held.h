/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * held.h - what an input costs: the processor time of this thread, and the memory that is held, as
 * the sanitizer's allocator counts it. Neither depends on what else runs on this computer.
 *
 * With HELD_PRINT in the environment the largest figures are printed as they grow: bounds are to be
 * little more than what the kept corpus shows.
 */
#ifndef HVTRACE_TESTS_HELD_H
#define HVTRACE_TESTS_HELD_H

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <sanitizer/allocator_interface.h>

static inline size_t held_bytes(void)
{
	return __sanitizer_get_current_allocated_bytes();
}

static inline int64_t held_cpu_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

static inline void *held_nothing(void *arg)
{
	pthread_barrier_wait(arg);
	return NULL;
}

/* Have some at once: the C library keeps what belongs to threads for the next ones. */
static inline void held_have_had_threads(void)
{
	pthread_t thread[2];
	pthread_barrier_t all;

	pthread_barrier_init(&all, NULL, 3);
	for (unsigned int i = 0; i < 2; i++)
		if (pthread_create(&thread[i], NULL, held_nothing, &all))
			abort();
	pthread_barrier_wait(&all);
	for (unsigned int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	pthread_barrier_destroy(&all);
}

/* One kind of cost, a static one each. */
struct cost {
	const char *what;
	uint64_t limit;
	uint64_t most; /* until now */
};

/* More than the limit is a finding. */
static inline void cost_is(struct cost *c, uint64_t n)
{
	if (n > c->most) {
		c->most = n;
		if (getenv("HELD_PRINT"))
			fprintf(stderr, "%s: %llu of %llu\n", c->what, (unsigned long long)n,
				(unsigned long long)c->limit);
	}
	if (n > c->limit) {
		fprintf(stderr, "%s: %llu, and %llu is the limit\n", c->what, (unsigned long long)n,
			(unsigned long long)c->limit);
		abort();
	}
}

#endif
