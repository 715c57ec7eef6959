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

/* tracing_thresh, and tracing_max_latency: ns. */
uint64_t trace_thresh(struct trace *t);
void trace_set_thresh(struct trace *t, uint64_t ns);

#endif
