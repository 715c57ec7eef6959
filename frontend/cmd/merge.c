// SPDX-License-Identifier: GPL-2.0-or-later
/* merge.c - `hvtrace merge`: the recordings of several guests as one. */
#include "frontend/cmd/command.h"
#include "frontend/cmd/crash-line.h"
#include "frontend/join/join.h"
#include "frontend/lib/meter.h"
#include "frontend/lib/options.h"

#include <inttypes.h>
#include <stdio.h>

static const struct option_usage merge_usage = {
	"hvtrace merge -o FILE [OPTION]... FILE...",
	"Joins trace.dat files of several guests, and of their host, into one, in which each is a buffer\n"
	"by the guest's name and its instances are GUEST:INSTANCE. Times are the host's: the files have\n"
	"to be recorded with -C x86-tsc, or with --host-events.",
	"hvtrace merge -o all.dat web.dat db.dat\n"
	"hvtrace report all.dat\n"
	"hvtrace report -I db all.dat",
};

static void show(void *arg, unsigned int percent)
{
	meter_show(arg, percent, 100, 0);
}

/* What is not in it as it was in the files. */
static int tell(const struct join_result *r, const char *out)
{
	const struct {
		uint64_t nr;
		const char *what;
	} all[] = {
		{r->damaged, "pages are damaged: records are missing"},
		{r->left_out, "events are longer than a page, and left out"},
		{r->late, "events have times that go back, which were put right"},
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (all[i].nr)
			fprintf(stderr, "hvtrace: %s: %" PRIu64 " %s\n", out, all[i].nr,
				all[i].what);
	return r->damaged ? EXIT_FAILED : EXIT_OK;
}

static int merge(const struct join_options *what)
{
	struct join_result result;
	struct meter meter;
	struct join_options opt = *what;
	char err[512];
	int rc;

	crash_line_set(
		"hvtrace: the formats of a file are more than libtraceevent can cope with: it may be "
		"damaged, or made to do harm\n");
	meter_begin(&meter, opt.out, NULL);
	opt.done = show;
	opt.arg = &meter;
	opt.result = &result;
	rc = join_files(&opt, err, sizeof(err));
	meter_end(&meter);
	if (!rc)
		return tell(&result, opt.out);
	fprintf(stderr, "hvtrace: %s\n", err);
	return EXIT_FAILED;
}

int cmd_merge(int argc, char **argv)
{
	struct join_options opt = {.out = NULL};
	const struct option_row rows[] = {
		OPT_STRING('o', "output", &opt.out, "FILE", "where it goes"),
		OPT_FLAG(0, "own-times", &opt.own_times,
			 "leave times as they are that nothing makes the host's"),
		OPT_FLAG(0, "no-sandbox", &opt.no_sandbox,
			 "keep all rights while files are read; for debugging hvtrace"),
		OPT_END,
	};
	int first = options_parse(argc, argv, rows, &merge_usage);

	if (first == OPTIONS_HELP)
		return EXIT_OK;
	if (first < 0)
		return EXIT_USAGE;
	if (!opt.out) {
		fprintf(stderr, "hvtrace: -o FILE says where it goes (hvtrace merge --help)\n");
		return EXIT_USAGE;
	}
	if (argc == first || argc - first > JOIN_FILES_MAX) {
		fprintf(stderr,
			"hvtrace: merge takes trace.dat files, %d at most (hvtrace merge --help)\n",
			JOIN_FILES_MAX);
		return EXIT_USAGE;
	}
	opt.paths = (const char *const *)&argv[first];
	opt.nr = (size_t)(argc - first);
	return merge(&opt);
}
