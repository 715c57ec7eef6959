/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * latencies.h - the histogram of all windows that a tracer of latencies finds, whether or not it is
 * the longest: hvtrace/latency. Of the top level, which alone has such tracers.
 */
#ifndef HVTRACE_TRACER_STAT_LATENCIES_H
#define HVTRACE_TRACER_STAT_LATENCIES_H

#include "tracer/instance/instance.h"

struct critical_window;

/* A tracer has found one, between two records of the payload. */
void latencies_window(struct instance *i, const struct critical_window *w, uint64_t ns);
/* Whether its stack is of interest, where looking at it costs the guest time. */
bool latencies_want_stack(struct instance *i, const struct critical_window *w);
/* Or another one, between what the two keys say, with n addresses of a stack. */
void latencies_add(struct instance *i, uint64_t from, uint64_t to, uint64_t ns,
		   const uint64_t *stack, unsigned int n);
/* Records are missing. */
void latencies_lost(struct instance *i);
/* The instance has another tracer now; the locks of all vCPUs are held. */
void latencies_begin(struct instance *i);

struct latencies *latencies_new(void);	  /* NULL: no memory */
void latencies_free(struct latencies *l); /* NULL is allowed */

#endif
