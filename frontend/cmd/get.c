// SPDX-License-Identifier: GPL-2.0-or-later
/* get.c - `hvtrace get`: read a file of a trace that is under way. */
#include "frontend/cmd/command.h"
#include "frontend/control/client.h"
#include "frontend/lib/options.h"
#include "frontend/session/connect.h"
#include "frontend/session/suggest.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

static const struct option_usage get_usage = {
	"hvtrace get [OPTION]... FILE",
	"Prints a file of a trace that hvtrace run or hvtrace attach has under way; it needs no mount.\n"
	"FILE is called as on the mount (current_tracer, per_cpu/cpu0/stats, instances/foo/trace); of a\n"
	"directory, such as . for the root, the names in it are printed. trace_pipe goes on until the\n"
	"trace ends, nobody reads what is printed, or Ctrl-C. With --all there is a line of each trace\n"
	"that runs, with the guest's name in front; those of trace_pipe in the order of their times, if\n"
	"the traces have the clock host, as those of hvtrace attach with several guests do.",
	"hvtrace get trace\n"
	"hvtrace get trace_pipe | head\n"
	"hvtrace get -g mydomain events/sched/sched_switch/format\n"
	"hvtrace get --all trace_pipe",
};

static int write_all(const char *data, size_t len)
{
	return fwrite(data, 1, len, stdout) == len && !fflush(stdout) ? 0 : -errno;
}

/* What is left when nobody is interested in the output is no failure. */
static int print_file(struct control_client *c, const char *file, bool stream)
{
	const char *data;
	ssize_t n;
	int rc = 0;

	while (!rc && (n = control_read(c, &data)) > 0)
		rc = write_all(data, (size_t)n);
	if (rc == -EPIPE)
		return EXIT_OK;
	if (rc)
		return EXIT_FAILED; /* which output_end() says */
	if (!n || n == -ECANCELED || (n == -ECONNRESET && stream))
		return EXIT_OK;
	fprintf(stderr, "hvtrace: cannot read %s: %s\n", file, control_strerror((int)n));
	return EXIT_FAILED;
}

int get_file(const char *guest, const char *file)
{
	struct control_client *c = connect_to_trace(guest, STDOUT_FILENO);
	struct trace_reader reader;
	int rc, status = EXIT_FAILED;
	char hint[512] = "";

	if (!c)
		return EXIT_FAILED;
	signal(SIGPIPE, SIG_IGN);
	reader = connect_reader(c);
	rc = control_open(c, file, O_RDONLY);
	if (rc == -ENOENT)
		suggest_file(&reader, file, hint, sizeof(hint));
	/* Nobody reads what would be printed, as below. */
	if (rc == -ECANCELED)
		status = EXIT_OK;
	else if (rc < 0)
		fprintf(stderr, "hvtrace: cannot open %s: %s%s\n", file, control_strerror(rc),
			hint);
	else
		status = print_file(c, file, rc == CONTROL_STREAM);
	/* Nobody finds it busy behind this command. */
	control_close(c);
	control_client_free(c);
	return status;
}

int cmd_get(int argc, char **argv)
{
	const char *guest = NULL;
	bool all = false;
	const struct option_row rows[] = {
		CONNECT_OPTION_ROW(&guest),
		OPT_FLAG(0, "all", &all, "of all traces that run"),
		OPT_OPERANDS("trace-file"),
	};
	int first = options_parse(argc, argv, rows, &get_usage);

	if (first < 0)
		return first == OPTIONS_HELP ? EXIT_OK : EXIT_USAGE;
	if (argc - first != 1) {
		fprintf(stderr, "hvtrace: get takes one file (hvtrace get --help)\n");
		return EXIT_USAGE;
	}
	if (all && guest) {
		fprintf(stderr, "hvtrace: --guest names one trace, --all stands for all\n");
		return EXIT_USAGE;
	}
	return all ? get_all(argv[first]) : get_file(guest, argv[first]);
}
