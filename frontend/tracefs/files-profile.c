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
	 .mode = 0640,
	 .flags = TRACEFS_TOP,
	 .show = show_profiles,
	 .set = set_profiles},
	{.path = "hvtrace/latency", .mode = 0440, .flags = TRACEFS_TOP, .show = show_latencies},
	{.path = "hvtrace/latency_enabled",
	 .mode = 0640,
	 .flags = TRACEFS_TOP,
	 .show = show_latencies_on,
	 .set = set_latencies_on},
	{.path = "stack_max_size",
	 .mode = 0640,
	 .flags = TRACEFS_TOP,
	 .show = show_stack_max,
	 .set = set_stack_max},
	{.path = "stack_trace", .mode = 0440, .flags = TRACEFS_TOP, .show = show_stack},
	/* The kernel's switch is a file of /proc, and that is the guest's. */
	{.path = "stack_tracer_enabled",
	 .mode = 0640,
	 .flags = TRACEFS_TOP,
	 .show = show_stack_tracer,
	 .set = set_stack_tracer},
	{.path = "trace_stat/function%d", .mode = 0640, .flags = TRACEFS_TOP, .show = show_profile},
};

const struct tracefs_table tracefs_profile_files = TRACEFS_TABLE(files);
