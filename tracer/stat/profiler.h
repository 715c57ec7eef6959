/* SPDX-License-Identifier: GPL-2.0-or-later */
/* profiler.h - the function profiler, from its end. */
#ifndef HVTRACE_TRACER_STAT_PROFILER_H
#define HVTRACE_TRACER_STAT_PROFILER_H

struct trace;

void profiler_free(struct trace *t);

#endif
