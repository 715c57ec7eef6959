/* SPDX-License-Identifier: GPL-2.0-or-later */
/* internal.h - the parts of a trace that are of one file of core/ each, for core.c. */
#ifndef HVTRACE_TRACER_CORE_INTERNAL_H
#define HVTRACE_TRACER_CORE_INTERNAL_H

#include "tracer/core/trace.h"

/* NULL: no memory; NULL is allowed. */
struct trace_seen *seen_new(void);
void seen_free(struct trace_seen *s);
struct trace_stacks *stacks_new(void);
void stacks_free(struct trace_stacks *s);
struct trace_wait *wait_new(void);
void wait_free(struct trace_wait *w);

#endif
