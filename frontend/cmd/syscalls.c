// SPDX-License-Identifier: GPL-2.0-or-later
/* syscalls.c - `hvtrace syscalls`: what the system calls of a guest take, as strace -c. */
#include "frontend/cmd/command.h"
#include "frontend/cmd/job.h"

static const char *const events[] = {"raw_syscalls:sys_enter", "raw_syscalls:sys_exit", NULL};

static const struct option_usage usage = {
	"hvtrace syscalls [OPTION]... DOMAIN|FILE",
	"Shows the system calls of a whole guest: how many there were, how many failed, how long they\n"
	"took, and a histogram of that. DOMAIN, as hvtrace attach takes it, is traced for a while; FILE\n"
	"is a trace.dat with the events of raw_syscalls, or of syscalls. A call counts when it returns.\n"
	"Numbers have the names of x86-64; a task of 32 bits is shown by these, too.",
	"hvtrace syscalls mydomain\n"
	"hvtrace syscalls mydomain --for 10s --by task --sort count\n"
	"hvtrace syscalls trace.dat -p 4711 --json",
};

static const char *by_name(unsigned int i)
{
	return job_by_name(&job_syscalls, i);
}

int cmd_syscalls(int argc, char **argv)
{
	struct job_options opt = JOB_OPTIONS_DEFAULT;
	const struct option_row rows[] = {
		OPT_ONE_OF(by_name, 0, "by", &opt.by, "WHAT",
			   "a row for each call (default), or for each of every task, name or cpu"),
		OPT_STRING(0, "svg", &opt.svg, "FILE", "draw the rows as a picture, too"),
		JOB_OPTION_ROWS(&opt),
		OPT_END,
	};
	const struct job_command what = {
		.name = "syscalls",
		.job = &job_syscalls,
		.title = "System calls",
		.usage = &usage,
		.events = events,
		.rows = rows,
	};

	return job_main(&what, &opt, argc, argv);
}
