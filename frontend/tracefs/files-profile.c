// SPDX-License-Identifier: GPL-2.0-or-later
/* files-profile.c - the function profiler. */
#include "frontend/tracefs/internal.h"

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

static const struct tracefs_file files[] = {
	{.path = "function_profile_enabled",
	 .mode = 0640,
	 .flags = TRACEFS_TOP,
	 .show = show_profiles,
	 .set = set_profiles},
	{.path = "trace_stat/function%d", .mode = 0640, .flags = TRACEFS_TOP, .show = show_profile},
};

const struct tracefs_table tracefs_profile_files = TRACEFS_TABLE(files);
