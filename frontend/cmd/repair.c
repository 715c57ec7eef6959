// SPDX-License-Identifier: GPL-2.0-or-later
/* repair.c - `hvtrace repair`: complete a recording whose recorder was killed. */
#include "frontend/cmd/command.h"
#include "frontend/cmd/dat-file.h"
#include "frontend/lib/meter.h"
#include "frontend/lib/options.h"
#include "frontend/record/record.h"

#include <inttypes.h>

static const struct option_usage repair_usage = {
	"hvtrace repair [OPTION]... FILE",
	"Makes a trace.dat of a recording that was not finished: its hvtrace was killed, or the disk was\n"
	"full. All that had been recorded by then is in it. FILE is what -o FILE.dat of hvtrace run or\n"
	"hvtrace attach has left; a whole trace.dat stays as it is.",
	"hvtrace repair trace.dat\n"
	"hvtrace repair -o /elsewhere/trace.dat trace.dat",
};

static void show(void *arg, unsigned int percent)
{
	meter_show(arg, percent, 100, 0);
}

/* What was a trace.dat may have been cut off or damaged since: a line says so. */
static bool is_whole(const char *file)
{
	const struct formats_config no_plugins = {.no_plugins = true};
	const struct dat_file_options opt = {.as_it_is = true};
	struct dat_file f;
	bool whole = dat_file_open(&f, file, &opt, &no_plugins);

	dat_file_close(&f, EXIT_OK);
	if (!whole)
		fprintf(stderr,
			"hvtrace: only a recording that was not finished can be repaired\n");
	return whole;
}

static int repair(const char *file, const char *out)
{
	struct meter meter;
	const struct record_watch watch = {show, &meter};
	struct record_repaired result;
	char err[512], size[RECORD_SIZE_LEN], bytes[RECORD_SIZE_LEN];
	int rc;

	meter_begin(&meter, file, NULL);
	rc = record_repair(file, out, &watch, &result, err, sizeof(err));
	meter_end(&meter);
	if (rc < 0) {
		fprintf(stderr, "hvtrace: %s\n", err);
		return EXIT_FAILED;
	}
	if (rc && !is_whole(file))
		return EXIT_FAILED;
	if (rc) {
		fprintf(stderr, "hvtrace: %s is a whole trace.dat: there is nothing to repair\n",
			file);
		return EXIT_OK;
	}
	if (result.torn)
		fprintf(stderr,
			"hvtrace: %s: the last %" PRIu64 " bytes are not whole, and left out\n",
			file, result.torn);
	fprintf(stderr, "hvtrace: %s: %s, %s of records\n", out ? out : file,
		record_size(result.size, size), record_size(result.bytes, bytes));
	return EXIT_OK;
}

int cmd_repair(int argc, char **argv)
{
	const char *out = NULL;
	const struct option_row rows[] = {
		OPT_STRING('o', "output", &out, "FILE",
			   "write to this file, and leave the recording as it is"),
		OPT_END,
	};
	int first = options_parse(argc, argv, rows, &repair_usage);

	if (first == OPTIONS_HELP)
		return EXIT_OK;
	if (first >= 0 && argc - first == 1)
		return repair(argv[first], out);
	if (first >= 0)
		fprintf(stderr, "hvtrace: repair takes one file (hvtrace repair --help)\n");
	return EXIT_USAGE;
}
