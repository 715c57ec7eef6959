/* SPDX-License-Identifier: GPL-2.0-or-later */
/* files.h - what files of tracefs do here: hwlat_detector/. Part of tracer.h. */
#ifndef HVTRACE_TRACER_TRACERS_FILES_H
#define HVTRACE_TRACER_TRACERS_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct trace;

/* hwlat_detector/: width and window, -EINVAL when a width would be more than its window; mode. */
enum hwlat_time { HWLAT_WIDTH, HWLAT_WINDOW };
enum hwlat_mode { HWLAT_NONE, HWLAT_ROUND_ROBIN, HWLAT_PER_CPU, NR_HWLAT_MODES };

uint64_t trace_hwlat_us(struct trace *t, enum hwlat_time which);
int trace_set_hwlat_us(struct trace *t, enum hwlat_time which, uint64_t us);
enum hwlat_mode trace_hwlat_mode(struct trace *t);
void trace_set_hwlat_mode(struct trace *t, enum hwlat_mode mode);

#endif
