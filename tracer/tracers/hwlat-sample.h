/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hwlat-sample.h - latencies that no kernel in the guest is to blame for, as the host sees them:
 * how long vCPUs had something to do and no processor to do it on.
 */
#ifndef HVTRACE_TRACER_TRACERS_HWLAT_SAMPLE_H
#define HVTRACE_TRACER_TRACERS_HWLAT_SAMPLE_H

#include <pthread.h>
#include <time.h>

#include "tracer/tracers/files.h"
#include "vmm/machine.h"

/* hwlat_detector/, and what is kept from one run to the next. */
struct hwlat_settings {
	pthread_mutex_t lock;
	uint64_t width_us, window_us; /* of each window, so much is looked at */
	enum hwlat_mode mode;
	uint64_t thresh; /* tracing_thresh at the end of the last run, ns */
	bool busy;	 /* it is the tracer of some instance */
	bool detached;	 /* there is no machine to ask any more */
};

struct hwlat_settings *hwlat_settings_new(void);    /* NULL: no memory */
void hwlat_settings_free(struct hwlat_settings *s); /* NULL is allowed */
/* The trace lets go of its machine. */
void hwlat_detach(struct hwlat_settings *s);

/* What was seen of one vCPU during one width. */
struct hwlat_sample {
	struct machine_delay last;
	uint64_t longest, total; /* ns */
	unsigned int count;	 /* looks that showed a longer wait than the threshold */
	struct timespec first;	 /* when the first of them was */
};

/* The vCPU is about to be looked at. */
void hwlat_sample_begin(struct hwlat_sample *s, const struct machine_delay *now);
/*
 * What it has waited by now. Of several waits since the last look only their sum is known: they are
 * taken for equally long, so that none is said to be longer than the longest was.
 */
void hwlat_sample_look(struct hwlat_sample *s, const struct machine_delay *now, uint64_t thresh_us);
/* Whether to tell of it: as the kernel, by whole microseconds. */
bool hwlat_sample_exceeds(const struct hwlat_sample *s, uint64_t thresh_us);

#endif
