// SPDX-License-Identifier: GPL-2.0-or-later
/* main.c - the hvtrace program: finds the command and runs it. */
#include "frontend/cmd/command.h"
#include "frontend/lib/options-form.h"
#include "frontend/lib/output.h"
#include "frontend/remote/remote.h"
#include "tracer/tracer.h"
#include "vmm/machine.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/*
 * Each has a page, docs/man/hvtrace-NAME.1. With a second word it is another form of the command
 * above it, with options of its own.
 */
static const struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *help;
} commands[] = {
	{"run", cmd_run, "boot a kernel in a machine of its own and trace it"},
	{"boot", cmd_boot, "boot a kernel, and show what of that takes long"},
	{"attach", cmd_attach, "trace a running guest of libvirt or QEMU for a while"},
	{"record", cmd_record,
	 "trace a guest, and record it to a trace.dat for trace-cmd and others"},
	{"record run", cmd_record, "boot a kernel as run does, and record it as well"},
	{"snapshot", cmd_snapshot, "have a guest that was saved go on, and trace it"},
	{"snapshot save", cmd_snapshot, "save a guest that runs, and let it run on"},
	{"show", cmd_show, "print a trace that is under way"},
	{"get", cmd_get, "read a file of a trace that is under way"},
	{"set", cmd_set, "write to a file of a trace that is under way"},
	{"graph", cmd_graph, "show the calls of a trace as one tree, with times and counts"},
	{"top", cmd_top, "show what a guest's kernel is busy with, again and again"},
	{"flame", cmd_flame, "draw the calls of a trace as a flame graph (SVG)"},
	{"latency", cmd_latency, "show how long interrupts are off, or tasks wait, as histograms"},
	{"wakeups", cmd_wakeups, "show how long tasks wait for a vCPU"},
	{"offcpu", cmd_offcpu, "show how long tasks are off the CPU, and why"},
	{"syscalls", cmd_syscalls, "show what system calls take, and which fail"},
	{"report", cmd_report, "print what is in a trace.dat file"},
	{"export", cmd_export, "write what is in a trace.dat file for Perfetto and other programs"},
	{"ship", cmd_ship, "take what is in trace.dat files to ClickHouse"},
	{"merge", cmd_merge, "join the trace.dat files of several guests into one"},
	{"repair", cmd_repair, "complete a recording whose hvtrace was killed"},
	{"serve", cmd_serve, "trace the guests of a host by rules, as a daemon"},
	{"list", cmd_list, "list the guests of libvirt and those that are traced"},
	{"events", cmd_events, "list the trace events of a kernel image or a running guest"},
	{"symbols", cmd_symbols, "show what a kernel image says about itself"},
	{"check-host", cmd_check_host, "say what of hvtrace works on this host, or with a guest"},
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
		if (!strcmp(name, commands[i].name) && !strchr(name, ' '))
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
	nearest_try(&near, "help");
	fprintf(stderr, "hvtrace: no such %s: %s%s (hvtrace --help lists the commands)\n",
		*name == '-' ? "option" : "command", name,
		nearest_hint(&near, "", hint, sizeof(hint)));
	return EXIT_USAGE;
}

/* What a command prints of its table of options. */
static void describe(const struct command *command, const char *form)
{
	char title[64], word[64], option[64], *argv[] = {title, word, option, NULL};
	const char *second = strchr(command->name, ' ');

	snprintf(title, sizeof(title), "hvtrace %s", command->name);
	snprintf(option, sizeof(option), "--help=%s", form);
	snprintf(word, sizeof(word), "%s", second ? second + 1 : option);
	argv[2] = second ? option : NULL;
	command->run(second ? 3 : 2, argv);
}

/* It itself, or with a second word behind it. */
static bool is_form_of(const struct command *form, const struct command *command)
{
	size_t len = strlen(command->name);

	return !strncmp(form->name, command->name, len) &&
	       (form->name[len] == ' ' || !form->name[len]);
}

/* What the tables of options are for manual pages and shells: of all commands, or of one. */
static int describe_all(const char *name, const struct command *only)
{
	const struct option_form *form = option_form_find(name);
	struct option_command all[COMMANDS + 1] = {{NULL, NULL}};

	if (!form)
		return option_is_one_of("as", name, option_form_name) ? EXIT_OK : EXIT_USAGE;
	for (size_t i = 0; i < COMMANDS; i++)
		all[i] = (struct option_command){commands[i].name, commands[i].help};
	if (!only)
		form->begin(stdout, all);
	for (size_t i = 0; i < COMMANDS; i++)
		if (!only || is_form_of(&commands[i], only))
			describe(&commands[i], name);
	if (!only)
		form->end(stdout);
	return output_end(EXIT_OK);
}

/* "help record run" */
static bool has_form(const char *name, const char *second)
{
	char both[64];

	snprintf(both, sizeof(both), "%s %s", name, second);
	for (size_t i = 0; i < COMMANDS; i++)
		if (!strcmp(both, commands[i].name))
			return true;
	return false;
}

static int help_about(int argc, char **argv)
{
	char option[] = "--help", *words[] = {argv[0], option, NULL, NULL};
	const struct command *command = find(argv[1]);

	if (argc == 3 && has_form(argv[1], argv[2])) {
		words[1] = argv[2];
		words[2] = option;
		return run(command, 3, words);
	}
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
		fputs("hvtrace: neither memory nor a descriptor for what is written\n", stderr);
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
	if (!strcmp(name, "remote"))
		return output_end(remote_serve(argc - 1));
	if (!strcmp(name, "complete"))
		return output_end(cmd_complete(argc - 1, argv + 1));
	if (argc > 1)
		return unknown(name);
	usage(stderr);
	return EXIT_USAGE;
}
