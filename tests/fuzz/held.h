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
