/* SPDX-License-Identifier: GPL-2.0-or-later */
/* files.h - what files of tracefs do here: hwlat_detector/, hvtrace/blk/, hvtrace/branch_steps.
 * Part of tracer.h. */
#ifndef HVTRACE_TRACER_TRACERS_FILES_H
#define HVTRACE_TRACER_TRACERS_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct text;
struct trace;

/* hwlat_detector/: width and window, -EINVAL when a width would be more than its window; mode. */
enum hwlat_time { HWLAT_WIDTH, HWLAT_WINDOW };
enum hwlat_mode { HWLAT_NONE, HWLAT_ROUND_ROBIN, HWLAT_PER_CPU, NR_HWLAT_MODES };

uint64_t trace_hwlat_us(struct trace *t, enum hwlat_time which);
int trace_set_hwlat_us(struct trace *t, enum hwlat_time which, uint64_t us);
enum hwlat_mode trace_hwlat_mode(struct trace *t);
void trace_set_hwlat_mode(struct trace *t, enum hwlat_mode mode);

/* hvtrace/branch_steps: how often a vCPU is stopped at most for one call, by hw-branch-tracer. */
#define BRANCH_STEPS_DEFAULT 1000
#define BRANCH_STEPS_MAX     100000

unsigned int trace_branch_steps(struct trace *t);
int trace_set_branch_steps(struct trace *t, uint64_t steps); /* 0 or -EINVAL */

/* hvtrace/blk/: what the tracer blk records, of all that the guest's disks are asked for. */
enum blk_limit {
	BLK_ACT_MASK, /* of these kinds: BLK_TC_ of linux/blktrace_api.h */
	BLK_PID,      /* by this task; 0: by all */
	BLK_START_LBA,
	BLK_END_LBA, /* the last sector */
	NR_BLK_LIMITS,
};

uint64_t trace_blk_limit(struct trace *t, enum blk_limit which);
void trace_set_blk_limit(struct trace *t, enum blk_limit which, uint64_t value);
/* The disks of which it does, as names with blanks between them; "all". */
void trace_print_blk_devices(struct trace *t, struct text *out);
/*
 * The same, or "MAJOR,MINOR"; none are all. 0; -ENODEV: the guest has no such disk, with one line
 * noted; -E2BIG, -ENOMEM. Then it stays as it was.
 */
int trace_set_blk_devices(struct trace *t, const char *names);

#endif
