/* SPDX-License-Identifier: GPL-2.0-or-later */
/* guest-loop.h - how long a round of the test guest's loop takes, whatever its site does now. */
#ifndef HVTRACE_TESTS_GUEST_LOOP_H
#define HVTRACE_TESTS_GUEST_LOOP_H

#include "tests/unit/testguest.h"

#include "tests/bench/bench.h"

/*
 * The best of many short tries, because other load on the host must not count. Being interrupted
 * between clock and counter makes a try longer, never shorter.
 */
static inline double guest_loop_ns(struct guest *g, unsigned int tries, unsigned int rounds)
{
	_Atomic uint64_t *count = guest_var(g, "bench_count");
	double best = 0;

	for (unsigned int try = 0; try < tries; try++) {
		double start = bench_now_ns(), took;
		uint64_t first = *count, last;

		do
			last = *count;
		while (last - first < rounds);
		took = (bench_now_ns() - start) / (double)(last - first);
		if (!try || took < best)
			best = took;
	}
	return best;
}

#endif
