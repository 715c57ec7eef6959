// SPDX-License-Identifier: GPL-2.0-or-later
/* offcpu.c - `hvtrace offcpu`: how long the tasks of a guest are off the CPU, and why. */
#include "frontend/cmd/command.h"
#include "frontend/cmd/job.h"

static const char *const events[] = {"sched:sched_switch", NULL};

static const struct option_usage usage = {
	"hvtrace offcpu [OPTION]... DOMAIN|FILE",
	"Shows how long tasks were off the CPU, by why they left it: sleeping, blocked (mostly by a\n"
	"disk), preempted, stopped. DOMAIN, as hvtrace attach takes it, is traced for a while; FILE is a\n"
	"trace.dat with the event sched_switch. With --stack the functions are recorded in which a task\n"
	"left the CPU, for --svg, a flame graph, and --folded; the guest waits for the host at each\n"
	"switch then. A FILE has them that was recorded with --set options/stacktrace=1.",
	"hvtrace offcpu mydomain --by name\n"
	"hvtrace offcpu mydomain --for 2s --svg offcpu.svg\n"
	"hvtrace offcpu trace.dat --folded | flamegraph.pl >offcpu.svg",
};

static const char *by_name(unsigned int i)
{
	return job_by_name(&job_offcpu, i);
}

int cmd_offcpu(int argc, char **argv)
{
	struct job_options opt = JOB_OPTIONS_DEFAULT;
	const struct option_row rows[] = {
		OPT_ONE_OF(by_name, 0, "by", &opt.by, "WHAT",
			   "rows for each task (default), name, cpu or reason"),
		OPT_FLAG(0, "stack", &opt.stacks, "of DOMAIN: record the kernel's stacks, too"),
		OPT_STRING(0, "svg", &opt.svg, "FILE",
			   "draw a flame graph of the stacks, or of a FILE without them the rows"),
		OPT_FLAG('F', "folded", &opt.folded,
			 "no table: a line for each stack, a;b;c NANOSECONDS"),
		JOB_OPTION_ROWS(&opt),
		OPT_END,
	};
	const struct job_command what = {
		.name = "offcpu",
		.job = &job_offcpu,
		.title = "Time off the CPU",
		.usage = &usage,
		.events = events,
		.rows = rows,
		.stacks = true,
	};

	return job_main(&what, &opt, argc, argv);
}
