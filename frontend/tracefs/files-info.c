// SPDX-License-Identifier: GPL-2.0-or-later
/* files-info.c - the tables of task names, and hvtrace/, which no kernel has. */
#include "frontend/tracefs/internal.h"

#include <errno.h>
#include <inttypes.h>

#define CMDLINES_MAX 32768 /* PID_MAX_DEFAULT */

static void show_cmdlines(struct open_file *f, struct text *out)
{
	trace_print_cmdlines(f->trace, out);
}

static void show_tgids(struct open_file *f, struct text *out)
{
	trace_print_tgids(f->trace, out);
}

static void show_cmdlines_size(struct open_file *f, struct text *out)
{
	text_printf(out, "%u\n", trace_cmdlines_size(f->trace));
}

static int set_cmdlines_size(struct open_file *f, uint64_t n)
{
	if (!n || n > CMDLINES_MAX)
		return -EINVAL;
	return trace_set_cmdlines_size(f->trace, (unsigned int)n);
}

static void show_formats(struct open_file *f, struct text *out)
{
	trace_print_formats(f->trace, out);
}

static void show_machine(struct open_file *f, struct text *out)
{
	if (view_machine(f->view))
		text_printf(out, "machine: %s\n", view_machine(f->view));
	text_printf(out, "vcpus: %u\n", trace_vcpus(f->trace));
}

static void show_engine(struct open_file *f, struct text *out)
{
	struct trace_status st;

	trace_get_status(f->trace, &st);
	text_printf(out,
		    "engine: %s\nselected: %" PRIu64 "\ntraced: %" PRIu64 "\nskipped: %" PRIu64
		    "\naway: %d\n",
		    st.engine, st.sites, st.traced, st.skipped, st.away);
}

static void show_losses(struct open_file *f, struct text *out)
{
	struct trace_status st;

	trace_get_status(f->trace, &st);
	text_printf(out,
		    "recorded: %" PRIu64 "\noverwritten: %" PRIu64 "\nlost: %" PRIu64
		    "\ncollected: %" PRIu64 "\nlost in guest: %" PRIu64 "\ncorrupt: %" PRIu64 "\n",
		    st.hits, st.overwritten, st.lost, st.staged, st.staging_lost, st.corrupt);
}

static void show_guest(struct open_file *f, struct text *out)
{
	trace_print_guest(f->trace, out);
}

static void show_overhead(struct open_file *f, struct text *out)
{
	trace_print_overhead(f->trace, out);
}

static void show_status(struct open_file *f, struct text *out)
{
	trace_print_status(f->trace, out);
}

static void show_standstill(struct open_file *f, struct text *out)
{
	trace_print_standstill(f->trace, out);
}

static void show_branch_steps(struct open_file *f, struct text *out)
{
	text_printf(out, "%u\n", trace_branch_steps(f->trace));
}

static int set_branch_steps(struct open_file *f, uint64_t steps)
{
	return trace_set_branch_steps(f->trace, steps);
}

static const struct tracefs_file files[] = {
	{.path = "README",
	 .what = "this",
	 .mode = 0440,
	 .flags = TRACEFS_TOP,
	 .show = tracefs_readme},
	{.path = "printk_formats",
	 .what = "strings that records name by their address",
	 .mode = 0440,
	 .flags = TRACEFS_TOP,
	 .show = show_formats},
	{.path = "saved_cmdlines",
	 .what = "names of tasks that were seen, by pid",
	 .mode = 0440,
	 .flags = TRACEFS_TOP,
	 .show = show_cmdlines},
	{.path = "saved_cmdlines_size",
	 .what = "how many are kept",
	 .mode = 0640,
	 .flags = TRACEFS_TOP,
	 .show = show_cmdlines_size,
	 .set = set_cmdlines_size},
	{.path = "saved_tgids",
	 .what = "thread groups of tasks that were seen, with the option record-tgid",
	 .mode = 0440,
	 .flags = TRACEFS_TOP,
	 .show = show_tgids},
	{.path = "hvtrace/branch_steps",
	 .what = "how often a CPU is stopped at most for one call, by the tracer hw-branch-tracer",
	 .mode = 0640,
	 .flags = TRACEFS_TOP,
	 .show = show_branch_steps,
	 .set = set_branch_steps},
	{.path = "hvtrace/engine",
	 .what = "how the guest is traced, and how many functions",
	 .mode = 0440,
	 .flags = TRACEFS_TOP,
	 .show = show_engine},
	{.path = "hvtrace/guest",
	 .what = "its kernel, and how it is",
	 .mode = 0440,
	 .flags = TRACEFS_TOP,
	 .show = show_guest},
	{.path = "hvtrace/losses",
	 .what = "what was recorded and lost",
	 .mode = 0440,
	 .flags = TRACEFS_TOP,
	 .show = show_losses},
	{.path = "hvtrace/machine",
	 .what = "what runs the guest",
	 .mode = 0440,
	 .flags = TRACEFS_TOP,
	 .show = show_machine},
	{.path = "hvtrace/overhead",
	 .what = "what tracing costs it",
	 .mode = 0440,
	 .flags = TRACEFS_TOP,
	 .show = show_overhead},
	{.path = "hvtrace/status",
	 .what = "whether recording has begun or is over, and what decides about that",
	 .mode = 0440,
	 .flags = TRACEFS_TOP,
	 .show = show_status},
	{.path = "hvtrace/standstill",
	 .what = "how often it stood for that, and how long",
	 .mode = 0440,
	 .flags = TRACEFS_TOP,
	 .show = show_standstill},
};

const struct tracefs_table tracefs_info_files =
	TRACEFS_TABLE("About the guest and the trace", files);
