/* SPDX-License-Identifier: GPL-2.0-or-later */
/* seed.h - what the random numbers of a test begin with. */
#ifndef HVTRACE_TESTS_SEED_H
#define HVTRACE_TESTS_SEED_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/*
 * Another one in each run, and the same for all of a program: SEED of the environment, which
 * repeats what has failed, else the time. It is told before anything can go wrong.
 */
static inline unsigned int test_seed(void)
{
	static unsigned int seed;
	static int known;
	const char *given = getenv("SEED");
	struct timespec ts;

	if (known)
		return seed;
	clock_gettime(CLOCK_REALTIME, &ts);
	seed = (unsigned int)ts.tv_sec * 1000003u + (unsigned int)ts.tv_nsec +
	       (unsigned int)getpid();
	if (given && *given)
		seed = (unsigned int)strtoul(given, NULL, 0);
	known = 1;
	printf("# SEED=%u\n", seed);
	fflush(stdout);
	return seed;
}

#endif
