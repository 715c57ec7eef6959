// SPDX-License-Identifier: GPL-2.0-or-later
/* wakeups.c - `hvtrace wakeups`: how long the tasks of a guest wait for a vCPU. */
#include "frontend/cmd/command.h"
#include "frontend/cmd/job.h"

static const char *const events[] = {
	"sched:sched_switch",
	"sched:sched_wakeup",
	"sched:sched_wakeup_new",
	NULL,
};

static const struct option_usage usage = {
	"hvtrace wakeups [OPTION]... DOMAIN|FILE",
	"Shows how long tasks that could run have waited for a vCPU: from where they were woken, or lost\n"
	"it to another without having slept, until they got one. DOMAIN, as hvtrace attach takes it, is\n"
	"traced for a while; FILE is a trace.dat with these events: sched_switch, and sched_waking or\n"
	"sched_wakeup. A histogram has a column for each power of two, and P99 is the end of the column\n"
	"that it is in. Below the table are the longest waits, with who had the vCPU meanwhile.",
	"hvtrace wakeups mydomain\n"
	"hvtrace wakeups mydomain --for 30s --by name --worst 20\n"
	"hvtrace wakeups trace.dat --sort p99 --json",
};

static const char *by_name(unsigned int i)
{
	return job_by_name(&job_wakeups, i);
}

int cmd_wakeups(int argc, char **argv)
{
	struct job_options opt = JOB_OPTIONS_DEFAULT;
	const struct option_row rows[] = {
		OPT_ONE_OF(by_name, 0, "by", &opt.by, "WHAT",
			   "a row for each task (default), name, cpu or prio"),
		OPT_NUMBER('w', "worst", &opt.worst, 0, 1000, "N",
			   "show the N longest waits (default: 5)"),
		OPT_STRING(0, "svg", &opt.svg, "FILE", "draw the rows as a picture, too"),
		JOB_OPTION_ROWS(&opt),
		OPT_END,
	};
	const struct job_command what = {
		.name = "wakeups",
		.job = &job_wakeups,
		.title = "Waits for a vCPU",
		.usage = &usage,
		.events = events,
		.rows = rows,
	};

	opt.worst = 5;
	return job_main(&what, &opt, argc, argv);
}
