/* SPDX-License-Identifier: GPL-2.0-or-later */
/* host-time.h - the host's CLOCK_MONOTONIC, in numbers. */
#ifndef HVTRACE_TRACER_LIB_HOST_TIME_H
#define HVTRACE_TRACER_LIB_HOST_TIME_H

#include <stdint.h>
#include <time.h>

#define NS_PER_MS INT64_C(1000000)
#define NS_PER_S  INT64_C(1000000000)

static inline int64_t host_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * NS_PER_S + ts.tv_nsec;
}

static inline int64_t host_ms(void)
{
	return host_ns() / NS_PER_MS;
}

/* So long from now, for conditions that wait by CLOCK_MONOTONIC. */
static inline struct timespec host_deadline(int64_t ns)
{
	int64_t at = host_ns() + ns;

	return (struct timespec){.tv_sec = at / NS_PER_S, .tv_nsec = at % NS_PER_S};
}

#endif
