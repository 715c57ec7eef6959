// SPDX-License-Identifier: GPL-2.0-or-later
/* main.c - the hvtrace program: finds the command and runs it. */
#include "frontend/cmd/command.h"
#include "frontend/lib/output.h"
#include "vmm/machine.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *help;
} commands[] = {
	{"run", cmd_run, "boot a kernel in a machine of its own and trace it"},
	{"attach", cmd_attach, "trace a running guest of libvirt or QEMU for a while"},
	{"get", cmd_get, "read a file of a trace that is under way"},
	{"set", cmd_set, "write to a file of a trace that is under way"},
	{"graph", cmd_graph, "show the calls of a trace as one tree, with times and counts"},
	{"top", cmd_top, "show what a guest's kernel is busy with, again and again"},
	{"flame", cmd_flame, "draw the calls of a trace as a flame graph (SVG)"},
	{"latency", cmd_latency, "show how long interrupts are off, or tasks wait, as histograms"},
	{"report", cmd_report, "print what is in a trace.dat file"},
	{"repair", cmd_repair, "complete a recording whose hvtrace was killed"},
	{"list", cmd_list, "list the guests of libvirt and those that are traced"},
	{"events", cmd_events, "list the trace events of a kernel image or a running guest"},
	{"symbols", cmd_symbols, "show what a kernel image says about itself"},
	{"check-host", cmd_check_host, "say what of hvtrace works on this host, or with a guest"},
};

static void usage(FILE *out)
{
	fprintf(out, "usage: hvtrace COMMAND [OPTION]...\n\n"
		     "Traces the kernel of an unmodified Linux guest from the host.\n\n"
		     "commands:\n");
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		fprintf(out, "  %-10s %s\n", commands[i].name, commands[i].help);
	fprintf(out,
		"\nhvtrace COMMAND --help shows a command's options; hvtrace --version the version.\n");
}

/* Libraries end what is theirs at exit(3), under threads of theirs that have not come back. */
static int leave(int status)
{
	if (!machine_has_strays())
		return status;
	fflush(NULL);
	_exit(status);
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "";
	char title[64];

	if (output_start()) {
		fputs("hvtrace: no memory\n", stderr);
		return EXIT_FAILED;
	}
	if (!strcmp(name, "--version") || !strcmp(name, "-V")) {
		printf("hvtrace %s\n", HVTRACE_VERSION);
		return EXIT_OK;
	}
	if (!strcmp(name, "--help") || !strcmp(name, "-h") || !strcmp(name, "help")) {
		usage(stdout);
		return EXIT_OK;
	}
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		if (strcmp(name, commands[i].name))
			continue;
		snprintf(title, sizeof(title), "hvtrace %s", commands[i].name);
		argv[1] = title;
		return leave(commands[i].run(argc - 1, argv + 1));
	}
	if (argc < 2)
		usage(stderr);
	else
		fprintf(stderr, "hvtrace: no such %s: %s (hvtrace --help lists the commands)\n",
			*name == '-' ? "option" : "command", name);
	return EXIT_USAGE;
}
