/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * latencies.h - the histogram of all windows that a tracer of latencies finds, whether or not it is
 * the longest: hvtrace/latency. Of the top level, which alone has such tracers.
 */
#ifndef HVTRACE_TRACER_LATENCIES_H
#define HVTRACE_TRACER_LATENCIES_H

#include "tracer/instance.h"

struct payload_record;

/* A tracer has found one, between two records of the payload. */
void latencies_window(struct instance *i, const struct payload_record *off,
		      const struct payload_record *on, uint64_t ns);
/* Or between a task that wakes another one up, and that. */
void latencies_wakeup(struct instance *i, int32_t waker, int32_t woken, uint64_t ns);
/* Records are missing. */
void latencies_lost(struct trace *t);
/* The instance has another tracer now; the locks of all vCPUs are held. */
void latencies_begin(struct instance *i);
void latencies_free(struct trace *t);

#endif
