// SPDX-License-Identifier: GPL-2.0-or-later
/* main.c - the hvtrace program: finds the command and runs it. */
#include "frontend/cmd/command.h"
#include "frontend/lib/options-form.h"
#include "frontend/lib/output.h"
#include "tracer/tracer.h"
#include "vmm/machine.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Each has a page, docs/man/hvtrace-NAME.1. */
static const struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *help;
	const char *second; /* "run": hvtrace NAME run has options of its own */
} commands[] = {
	{"run", cmd_run, "boot a kernel in a machine of its own and trace it", NULL},
	{"boot", cmd_boot, "boot a kernel, and show what of that takes long", NULL},
	{"attach", cmd_attach, "trace a running guest of libvirt or QEMU for a while", NULL},
	{"record", cmd_record,
	 "trace a guest, and record it to a trace.dat for trace-cmd and others", "run"},
	{"show", cmd_show, "print a trace that is under way", NULL},
	{"get", cmd_get, "read a file of a trace that is under way", NULL},
	{"set", cmd_set, "write to a file of a trace that is under way", NULL},
	{"graph", cmd_graph, "show the calls of a trace as one tree, with times and counts", NULL},
	{"top", cmd_top, "show what a guest's kernel is busy with, again and again", NULL},
	{"flame", cmd_flame, "draw the calls of a trace as a flame graph (SVG)", NULL},
	{"latency", cmd_latency, "show how long interrupts are off, or tasks wait, as histograms",
	 NULL},
	{"wakeups", cmd_wakeups, "show how long tasks wait for a vCPU", NULL},
	{"offcpu", cmd_offcpu, "show how long tasks are off the CPU, and why", NULL},
	{"syscalls", cmd_syscalls, "show what system calls take, and which fail", NULL},
	{"report", cmd_report, "print what is in a trace.dat file", NULL},
	{"export", cmd_export, "write what is in a trace.dat file for Perfetto and other programs",
	 NULL},
	{"repair", cmd_repair, "complete a recording whose hvtrace was killed", NULL},
	{"list", cmd_list, "list the guests of libvirt and those that are traced", NULL},
	{"events", cmd_events, "list the trace events of a kernel image or a running guest", NULL},
	{"symbols", cmd_symbols, "show what a kernel image says about itself", NULL},
	{"check-host", cmd_check_host, "say what of hvtrace works on this host, or with a guest",
	 NULL},
};

enum { COMMANDS = sizeof(commands) / sizeof(commands[0]) };

static void usage(FILE *out)
{
	fprintf(out, "usage: hvtrace COMMAND [OPTION]...\n\n"
		     "Traces the kernel of an unmodified Linux guest from the host.\n\n"
		     "commands:\n");
	for (size_t i = 0; i < COMMANDS; i++)
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
	for (size_t i = 0; i < COMMANDS; i++)
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
	for (size_t i = 0; i < COMMANDS; i++)
		nearest_try(&near, commands[i].name);
	fprintf(stderr, "hvtrace: no such %s: %s%s (hvtrace --help lists the commands)\n",
		*name == '-' ? "option" : "command", name,
		nearest_hint(&near, "", hint, sizeof(hint)));
	return EXIT_USAGE;
}

/* What a command prints of its table of options. */
static void describe(const struct command *command, const char *second, const char *form)
{
	char title[64], word[32], option[32], *argv[] = {title, word, option, NULL};

	snprintf(title, sizeof(title), "hvtrace %s", command->name);
	snprintf(option, sizeof(option), "--help=%s", form);
	snprintf(word, sizeof(word), "%s", second ? second : option);
	if (!second)
		argv[2] = NULL;
	command->run(second ? 3 : 2, argv);
}

/* What the tables of options are for manual pages and shells: of all commands, or of one. */
static int describe_all(const char *name, const struct command *only)
{
	const struct option_form *form = option_form_find(name);
	struct option_command all[COMMANDS + 1] = {{NULL, NULL, NULL}};

	if (!form)
		return option_is_one_of("as", name, option_form_name) ? EXIT_OK : EXIT_USAGE;
	for (size_t i = 0; i < COMMANDS; i++)
		all[i] = (struct option_command){commands[i].name, commands[i].help,
						 commands[i].second};
	if (!only)
		form->begin(stdout, all);
	for (const struct command *c = commands; c < commands + COMMANDS; c++) {
		if (only && c != only)
			continue;
		describe(c, NULL, name);
		if (c->second)
			describe(c, c->second, name);
	}
	if (!only)
		form->end(stdout);
	return output_end(EXIT_OK);
}

static int help_about(int argc, char **argv)
{
	char option[] = "--help", *words[] = {argv[0], option, NULL};
	const struct command *command = find(argv[1]);

	if (argc > 2) {
		fprintf(stderr,
			"hvtrace: help takes one command: %s %s (hvtrace --help lists them)\n",
			argv[1], argv[2]);
		return EXIT_USAGE;
	}
	return command ? run(command, 2, words) : unknown(argv[1]);
}

static int help(int argc, char **argv)
{
	if (argc < 2) {
		usage(stdout);
		return output_end(EXIT_OK);
	}
	if (strcmp(argv[1], "--as") != 0)
		return help_about(argc, argv);
	if (argc != 3 && argc != 4) {
		fprintf(stderr, "hvtrace: help --as takes a form, and may take a command\n");
		return EXIT_USAGE;
	}
	if (argc == 4 && !find(argv[3]))
		return unknown(argv[3]);
	return describe_all(argv[2], argc == 4 ? find(argv[3]) : NULL);
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
