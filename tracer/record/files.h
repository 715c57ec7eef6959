/* SPDX-License-Identifier: GPL-2.0-or-later */
/* files.h - what files of tracefs do here: recording on and off, and thresholds. Part of tracer.h.
 */
#ifndef HVTRACE_TRACER_RECORD_FILES_H
#define HVTRACE_TRACER_RECORD_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct instance;
struct trace;

bool instance_is_on(struct instance *i);
void instance_set_on(struct instance *i, bool on);

struct trace_config;

/*
 * Have the top level select what the filter and the notrace of a configuration do, of a trace that
 * was made without. 0, or -errno and err says why in one line.
 */
int trace_select(struct trace *t, const struct trace_config *which, char *err, size_t errlen);

/* tracing_thresh, and tracing_max_latency: ns. */
uint64_t trace_thresh(struct trace *t);
void trace_set_thresh(struct trace *t, uint64_t ns);

#endif
