// SPDX-License-Identifier: GPL-2.0-or-later
/* record.c - `hvtrace record`: run and attach, with the trace recorded to a file. */
#include "frontend/cmd/command.h"
#include "frontend/lib/options.h"

#include <string.h>

#define RECORD_FILE "trace.dat"

static const struct option_usage attach_usage = {
	"hvtrace record [OPTION]... DOMAIN...",
	"Traces the kernel of a running guest until Ctrl-C, and records the trace to trace.dat, which\n"
	"trace-cmd and KernelShark open. The guest is left as it was found. DOMAIN and all options are\n"
	"those of hvtrace attach. hvtrace record run boots a kernel for it.",
	"hvtrace record guest1 -e 'sched:*' -e 'irq:*'\n"
	"hvtrace record guest1 -t function_graph --for 10s -o calls.dat",
};

static const struct option_usage run_usage = {
	"hvtrace record run [OPTION]... [IMAGE]",
	"Boots a kernel, or a disk image, in a machine of its own, traces it from its first instruction,\n"
	"and records the trace to trace.dat, which trace-cmd and KernelShark open. All options are those\n"
	"of hvtrace run.",
	"hvtrace record run -i initrd -t function --until start_kernel -o boot.dat",
};

/* The word comes before the options, where a domain of that name does not. */
int cmd_record(int argc, char **argv)
{
	const struct tracing attach = {&attach_usage, RECORD_FILE, true, 0};
	const struct tracing run = {&run_usage, RECORD_FILE, true, 0};
	char name[] = "hvtrace record run";

	if (argc < 2 || strcmp(argv[1], "run") != 0)
		return attach_as(&attach, argc, argv);
	argv[1] = name;
	return run_as(&run, argc - 1, argv + 1);
}
