/* SPDX-License-Identifier: GPL-2.0-or-later */
/* names.h - the table of tracers, as users see it. */
#ifndef HVTRACE_TRACER_TRACERS_NAMES_H
#define HVTRACE_TRACER_TRACERS_NAMES_H

#include <stdbool.h>

struct trace;

/* Row i of the table of tracers, NULL past the last. */
const char *trace_tracer_name(unsigned int i, const char **desc);
/* Only the top level can have it, no instance made later. */
bool trace_tracer_is_top(const char *name);
/* The kernel of this guest has what it works on; one that has not cannot be chosen. */
bool trace_has_tracer(struct trace *t, const char *name);
/* It looks for the longest latency, and all that it finds can be counted. */
bool trace_tracer_is_latency(const char *name);

#endif
