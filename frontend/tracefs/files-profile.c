// SPDX-License-Identifier: GPL-2.0-or-later
/* files-profile.c - the function profiler, the stack tracer, and the histogram of latencies. */
#include "frontend/tracefs/internal.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>

static void show_profiles(struct open_file *f, struct text *out)
{
	text_puts(out, trace_profiles(f->trace) ? "1\n" : "0\n");
}

static int set_profiles(struct open_file *f, uint64_t value)
{
	return trace_set_profile(f->trace, value);
}

static void show_profile(struct open_file *f, struct text *out)
{
	trace_print_profile(f->trace, (unsigned int)f->vcpu, out);
}

static void show_stack_tracer(struct open_file *f, struct text *out)
{
	text_printf(out, "%d\n", trace_stack_tracer(f->trace));
}

static int set_stack_tracer(struct open_file *f, uint64_t value)
{
	return value > INT_MAX ? -EINVAL : trace_set_stack_tracer(f->trace, (int)value);
}

static void show_stack_max(struct open_file *f, struct text *out)
{
	text_printf(out, "%" PRId64 "\n", (int64_t)trace_stack_max_size(f->trace));
}

static int set_stack_max(struct open_file *f, uint64_t value)
{
	trace_set_stack_max_size(f->trace, value);
	return 0;
}

static void show_stack(struct open_file *f, struct text *out)
{
	trace_print_stack(f->trace, out);
}

static void show_branches(struct open_file *f, struct text *out)
{
	trace_print_branches(f->trace, out);
}

static void show_latencies(struct open_file *f, struct text *out)
{
	trace_print_latencies(f->trace, out);
}

static void show_latencies_on(struct open_file *f, struct text *out)
{
	text_puts(out, trace_keeps_latencies(f->trace) ? "1\n" : "0\n");
}

static int set_latencies_on(struct open_file *f, uint64_t value)
{
	return trace_keep_latencies(f->trace, value);
}

static const struct tracefs_file files[] = {
	{.path = "function_profile_enabled",
	 .what = "1: count the calls of functions, and their time",
	 .mode = 0640,
	 .flags = TRACEFS_TOP,
	 .show = show_profiles,
	 .set = set_profiles},
	{.path = "hvtrace/latency",
	 .what = "what latency_enabled has counted: hvtrace latency shows it",
	 .mode = 0440,
	 .flags = TRACEFS_TOP,
	 .show = show_latencies},
	{.path = "hvtrace/latency_enabled",
	 .what = "1: count all that wakeup, irqsoff and their like find, not only the longest",
	 .mode = 0640,
	 .flags = TRACEFS_TOP,
	 .show = show_latencies_on,
	 .set = set_latencies_on},
	{.path = "stack_max_size",
	 .what = "bytes of the deepest stack so far",
	 .mode = 0640,
	 .flags = TRACEFS_TOP,
	 .show = show_stack_max,
	 .set = set_stack_max},
	{.path = "stack_trace",
	 .what = "which that was",
	 .mode = 0440,
	 .flags = TRACEFS_TOP,
	 .show = show_stack},
	/* The kernel's switch is a file of /proc, and that is the guest's. */
	{.path = "stack_tracer_enabled",
	 .what = "1: look for the deepest stack (/proc/sys/kernel has it in a guest)",
	 .mode = 0640,
	 .flags = TRACEFS_TOP,
	 .show = show_stack_tracer,
	 .set = set_stack_tracer},
	{.path = "trace_stat/branch_annotated",
	 .what = "how often each likely() and unlikely() of the kernel was right, where it counts",
	 .mode = 0640,
	 .flags = TRACEFS_TOP,
	 .there = trace_counts_branches,
	 .show = show_branches},
	{.path = "trace_stat/function%d",
	 .what = "what function_profile_enabled has counted, of one vCPU",
	 .mode = 0640,
	 .flags = TRACEFS_TOP,
	 .show = show_profile},
};

const struct tracefs_table tracefs_profile_files = TRACEFS_TABLE("Profiles", files);
