// SPDX-License-Identifier: GPL-2.0-or-later
/* files-info.c - README, the tables of task names, and hvtrace/, which no kernel has. */
#include "frontend/tracefs/internal.h"

#include <errno.h>
#include <inttypes.h>

#define CMDLINES_MAX 32768 /* PID_MAX_DEFAULT */

static const char readme[] =
	"The kernel of a guest, traced from outside. Files are named and behave as those of\n"
	"/sys/kernel/tracing in Linux 6.1; what is not listed here is not offered.\n"
	"\n"
	"What is recorded\n"
	"  available_tracers, current_tracer   function, function_graph, sched_switch, blk,\n"
	"                                      wakeup, wakeup_rt, wakeup_dl, irqsoff, preemptoff,\n"
	"                                      preemptirqsoff, hwlat, or nop\n"
	"  tracing_on                          1 or 0: record or do not (tracing_enabled in 2.6.28)\n"
	"  tracing_cpumask                     vCPUs that are recorded, in hexadecimal\n"
	"  tracing_thresh, tracing_max_latency microseconds\n"
	"  hwlat_detector/                     hwlat: width of each window, in microseconds; mode\n"
	"  trace_clock                         what time stamps say; the one in brackets is in use\n"
	"  trace_options, options/             NAME or noNAME; 1 or 0\n"
	"\n"
	"Which functions and tasks\n"
	"  available_filter_functions          all that can be traced (_addrs: with addresses)\n"
	"  set_ftrace_filter                   only these; none means all\n"
	"  set_ftrace_notrace                  not these\n"
	"      names, globs (with * ? [a-z]), numbers in available_filter_functions;\n"
	"      !NAME takes one out; :mod:MODULE after it limits it to a module;\n"
	"      FUNCTION:COMMAND[:COUNT] does something when the function is called:\n"
	"      traceon traceoff snapshot stacktrace dump cpudump\n"
	"  set_graph_function, set_graph_notrace    function_graph: these and what they call;\n"
	"                                      not these, nor what they call\n"
	"  max_graph_depth                     function_graph: no calls that are deeper; 0: all\n"
	"  set_ftrace_pid, set_ftrace_notrace_pid   only these tasks; not these\n"
	"  enabled_functions, dyn_ftrace_total_info what has a probe now; how many could\n"
	"  touched_functions                   what has or had one, if the guest's kernel tells that\n"
	"\n"
	"What was recorded\n"
	"  trace                               as text; reading takes nothing away; > empties it\n"
	"  trace_pipe                          as text, each event once; waits for more\n"
	"  per_cpu/cpuN/                       the same for one vCPU, stats, and trace_pipe_raw:\n"
	"                                      pages as events/header_page describes them\n"
	"  snapshot                            1: swap with the buffer, 0: free, 2: empty\n"
	"  saved_cmdlines, saved_tgids         names and groups of tasks that were seen\n"
	"  printk_formats                      strings that records name by their address\n"
	"  error_log                           what was wrong with commands\n"
	"  trace_marker, trace_marker_raw      write into the trace\n"
	"\n"
	"Buffers\n"
	"  buffer_size_kb, buffer_total_size_kb     of each vCPU; of all\n"
	"  buffer_percent                      how full one vCPU's is when poll(2) says so\n"
	"  free_buffer                         closing it frees the buffers\n"
	"  instances/                          mkdir makes one with buffers, filters, options and\n"
	"                                      a tracer of its own; rmdir removes it\n"
	"\n"
	"Only here\n"
	"  hvtrace/graph                       function_graph's calls, merged: hvtrace graph shows it\n"
	"  hvtrace/latency_enabled             1: count all that wakeup, irqsoff and their like find,\n"
	"                                      not only the longest; hvtrace/latency: the counts,\n"
	"                                      which hvtrace latency shows\n"
	"  hvtrace/machine, guest              what runs the guest; its kernel, and how it is\n"
	"  hvtrace/engine, losses, overhead    how it is traced, what was lost, what it costs\n"
	"  hvtrace/standstill                  how often the guest stood for it, and how long\n";

static void show_readme(struct open_file *f, struct text *out)
{
	(void)f;
	text_puts(out, readme);
}

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
		    "recorded: %" PRIu64 "\nlost: %" PRIu64 "\ncollected: %" PRIu64
		    "\nlost in guest: %" PRIu64 "\ncorrupt: %" PRIu64 "\n",
		    st.hits, st.lost, st.staged, st.staging_lost, st.corrupt);
}

static void show_guest(struct open_file *f, struct text *out)
{
	trace_print_guest(f->trace, out);
}

static void show_overhead(struct open_file *f, struct text *out)
{
	trace_print_overhead(f->trace, out);
}

static void show_standstill(struct open_file *f, struct text *out)
{
	trace_print_standstill(f->trace, out);
}

static const struct tracefs_file files[] = {
	{.path = "README", .mode = 0440, .flags = TRACEFS_TOP, .show = show_readme},
	{.path = "printk_formats", .mode = 0440, .flags = TRACEFS_TOP, .show = show_formats},
	{.path = "saved_cmdlines", .mode = 0440, .flags = TRACEFS_TOP, .show = show_cmdlines},
	{.path = "saved_cmdlines_size",
	 .mode = 0640,
	 .flags = TRACEFS_TOP,
	 .show = show_cmdlines_size,
	 .set = set_cmdlines_size},
	{.path = "saved_tgids", .mode = 0440, .flags = TRACEFS_TOP, .show = show_tgids},
	{.path = "hvtrace/engine", .mode = 0440, .flags = TRACEFS_TOP, .show = show_engine},
	{.path = "hvtrace/guest", .mode = 0440, .flags = TRACEFS_TOP, .show = show_guest},
	{.path = "hvtrace/losses", .mode = 0440, .flags = TRACEFS_TOP, .show = show_losses},
	{.path = "hvtrace/machine", .mode = 0440, .flags = TRACEFS_TOP, .show = show_machine},
	{.path = "hvtrace/overhead", .mode = 0440, .flags = TRACEFS_TOP, .show = show_overhead},
	{.path = "hvtrace/standstill", .mode = 0440, .flags = TRACEFS_TOP, .show = show_standstill},
};

const struct tracefs_table tracefs_info_files = TRACEFS_TABLE(files);
