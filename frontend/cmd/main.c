// SPDX-License-Identifier: GPL-2.0-or-later
/* main.c - the hvtrace program: finds the command and runs it. */
#include "frontend/cmd/command.h"
#include "frontend/lib/output.h"
#include "tracer/tracer.h"
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
	{"record", cmd_record, "trace a guest, and record it to a trace.dat for trace-cmd and others"},
	{"show", cmd_show, "print a trace that is under way"},
	{"get", cmd_get, "read a file of a trace that is under way"},
	{"set", cmd_set, "write to a file of a trace that is under way"},
	{"graph", cmd_graph, "show the calls of a trace as one tree, with times and counts"},
	{"top", cmd_top, "show what a guest's kernel is busy with, again and again"},
	{"flame", cmd_flame, "draw the calls of a trace as a flame graph (SVG)"},
	{"latency", cmd_latency, "show how long interrupts are off, or tasks wait, as histograms"},
	{"report", cmd_report, "print what is in a trace.dat file"},
	{"export", cmd_export, "write what is in a trace.dat file for Perfetto and other programs"},
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
		"\nhvtrace COMMAND --help, or hvtrace help COMMAND, shows the options of one;\n"
		"hvtrace --version shows the version.\n");
}

/* Libraries end what is theirs at exit(3), under threads of theirs that have not come back. */
static int leave(int status)
{
	if (!machine_has_strays())
		return status;
	fflush(NULL);
	_exit(status);
}

static const struct command *find(const char *name)
{
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (!strcmp(name, commands[i].name))
			return &commands[i];
	return NULL;
}

static int run(const struct command *command, int argc, char **argv)
{
	char title[64];

	snprintf(title, sizeof(title), "hvtrace %s", command->name);
	argv[0] = title;
	return leave(output_end(command->run(argc, argv)));
}

static int unknown(const char *name)
{
	char hint[NEAREST_LEN * 2];
	struct nearest near;

	nearest_begin(&near, name);
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		nearest_try(&near, commands[i].name);
	fprintf(stderr, "hvtrace: no such %s: %s%s (hvtrace --help lists the commands)\n",
		*name == '-' ? "option" : "command", name,
		nearest_hint(&near, "", hint, sizeof(hint)));
	return EXIT_USAGE;
}

static int help(int argc, char **argv)
{
	char option[] = "--help", *words[] = {argv[0], option, NULL};
	const struct command *command;

	if (argc < 2) {
		usage(stdout);
		return output_end(EXIT_OK);
	}
	if (argc > 2) {
		fprintf(stderr,
			"hvtrace: help takes one command: %s %s (hvtrace --help lists them)\n",
			argv[1], argv[2]);
		return EXIT_USAGE;
	}
	command = find(argv[1]);
	return command ? run(command, 2, words) : unknown(argv[1]);
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "";
	const struct command *command = find(name);

	if (output_start()) {
		fputs("hvtrace: no memory\n", stderr);
		return EXIT_FAILED;
	}
	if (command)
		return run(command, argc - 1, argv + 1);
	if (!strcmp(name, "--version") || !strcmp(name, "-V")) {
		printf("hvtrace %s\n", HVTRACE_VERSION);
		return output_end(EXIT_OK);
	}
	if (!strcmp(name, "--help") || !strcmp(name, "-h")) {
		usage(stdout);
		return output_end(EXIT_OK);
	}
	if (!strcmp(name, "help"))
		return help(argc - 1, argv + 1);
	if (argc > 1)
		return unknown(name);
	usage(stderr);
	return EXIT_USAGE;
}
