/* SPDX-License-Identifier: GPL-2.0-or-later */
/* local.h - how what is told is kept. */
#ifndef HVTRACE_FRONTEND_METRICS_LOCAL_H
#define HVTRACE_FRONTEND_METRICS_LOCAL_H

#include <pthread.h>

#include "frontend/metrics/metrics.h"

/* What there is of one set of labels. */
struct series {
	char *labels; /* as labels_put() has them */
	double value;
	uint64_t total_ns;
	uint64_t *bucket; /* LATENCY_REPORT_BUCKETS of them; NULL: it is a value */
};

/*
 * Sorted by labels: that finds one as fast whatever guests are called, has those of a guest beside
 * each other, and is the order in which they are printed.
 */
struct sorted {
	struct series **v;
	size_t nr, room;
};

struct metrics {
	pthread_mutex_t lock; /* of all else; nothing is waited for with it held */
	struct sorted of[METRICS_FAMILIES];
};

#endif
