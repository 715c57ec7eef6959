// SPDX-License-Identifier: GPL-2.0-or-later
/* show.c - `hvtrace show`: a trace that is under way, as text. */
#include "frontend/cmd/command.h"
#include "frontend/lib/options.h"
#include "frontend/lib/output.h"
#include "frontend/session/connect.h"

#include <stdio.h>

static const struct option_usage show_usage = {
	"hvtrace show [OPTION]...",
	"Prints a trace that hvtrace run or hvtrace attach has under way, as the kernel's file trace\n"
	"reads: what is in the ring buffers, without taking anything out of them. With --follow it\n"
	"prints what is recorded as it comes, and takes it out, until the trace ends or Ctrl-C. A trace\n"
	"that is recorded to a file has nothing in its buffers: hvtrace report FILE prints that.",
	"hvtrace show | less\n"
	"hvtrace show --follow -g guest1",
};

struct show_options {
	const char *guest, *instance;
	bool follow, snapshot;
};

static int show(const struct show_options *opt)
{
	const char *file = opt->follow ? "trace_pipe" : opt->snapshot ? "snapshot" : "trace";
	char path[320];
	int n;

	if (opt->instance)
		n = snprintf(path, sizeof(path), "instances/%s/%s", opt->instance, file);
	else
		n = snprintf(path, sizeof(path), "%s", file);
	output_paint(PAINT_TRACE);
	if (n < (int)sizeof(path))
		return get_file(opt->guest, path);
	fprintf(stderr, "hvtrace: no instance %.64s...: the name is too long\n", opt->instance);
	return EXIT_FAILED;
}

int cmd_show(int argc, char **argv)
{
	struct show_options opt = {0};
	const struct option_row rows[] = {
		OPT_FLAG('f', "follow", &opt.follow, "what comes, as it comes (trace_pipe)"),
		OPT_FLAG('s', "snapshot", &opt.snapshot, "the snapshot"),
		OPT_STRING_OF("instance", 'I', "instance", &opt.instance, "NAME",
			      "an instance (default: the top level)"),
		CONNECT_OPTION_ROW(&opt.guest),
		OPT_COLOR,
		OPT_END,
	};
	int first = options_parse(argc, argv, rows, &show_usage);

	if (first == OPTIONS_HELP)
		return EXIT_OK;
	if (first >= 0 && first < argc)
		fprintf(stderr,
			"hvtrace: show takes no operand: %s (hvtrace report prints files)\n",
			argv[first]);
	else if (first >= 0 && opt.follow && opt.snapshot)
		fprintf(stderr, "hvtrace: --follow and --snapshot do not go together\n");
	else if (first >= 0)
		return show(&opt);
	return EXIT_USAGE;
}
