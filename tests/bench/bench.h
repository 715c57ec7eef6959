/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bench.h - clocks, medians, and how a bench tells its figures to tests/bench/run. */
#ifndef HVTRACE_TESTS_BENCH_H
#define HVTRACE_TESTS_BENCH_H

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static inline double bench_clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

static inline double bench_now_ns(void)
{
	return bench_clock_ns(CLOCK_MONOTONIC);
}

static inline int bench_compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Have *best be the least that was seen. */
static inline void bench_least(double *best, double ns)
{
	if (ns < *best)
		*best = ns;
}

/* Sorts them. */
static inline double bench_median(double *v, size_t n)
{
	qsort(v, n, sizeof(*v), bench_compare);
	return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

/* A figure that tests/bench/gates may have a gate for goes to the file $BENCH_FIGURES, if it is
 * set. */
static inline void bench_figure(const char *name, double value)
{
	const char *path = getenv("BENCH_FIGURES");
	FILE *f = path ? fopen(path, "a") : NULL;

	if (!f)
		return;
	fprintf(f, "%s %.4f\n", name, value);
	fclose(f);
}

#endif
