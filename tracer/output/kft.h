/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kft.h - a graph of calls as the table of Kernel Function Trace, which was what kernels had
 * before ftrace (/proc/kft_data): one line for each call, in the order of the entries.
 *
 *	Entry Delta PID Function Caller
 *	-------- -------- -------- ---------------- ------------
 *	     686      876      0.0 start_kernel     rest_init
 *
 * Entry: microseconds since the first call of the table. Delta: how long it took; -1: it has not
 * returned. PID: the task's, a dot, the CPU that it returned on (that it was called on, if it has
 * not). Caller: the function of the trace around it; "-": none is known.
 */
#ifndef HVTRACE_TRACER_OUTPUT_KFT_H
#define HVTRACE_TRACER_OUTPUT_KFT_H

#include "tracer/output/output.h"

struct kft;

struct kft *kft_new(void);    /* NULL: no memory */
void kft_free(struct kft *k); /* NULL is allowed */
/* The next event of the trace; those that are neither entries nor returns are left alone. */
void kft_event(struct kft *k, unsigned int cpu, const struct ring_event *ev);
/*
 * All events have been told: print what stands above the table. cfg says what functions are
 * called. With times that are bare counts, calls that have not returned are left out: of those that
 * have, nanoseconds are known all the same. False: there was no memory for all calls.
 */
bool kft_begin(struct kft *k, const struct output_config *cfg, struct text *out);
/* Print the next line. False: there is no more. */
bool kft_next(struct kft *k, const struct output_config *cfg, struct text *out);

#endif
