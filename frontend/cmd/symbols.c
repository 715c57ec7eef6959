// SPDX-License-Identifier: GPL-2.0-or-later
/* symbols.c - `hvtrace symbols`: what a kernel image says about itself. */
#include "frontend/cmd/command.h"
#include "frontend/cmd/symbols-print.h"
#include "frontend/lib/json.h"
#include "frontend/lib/options.h"
#include "guestsym/guestsym.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const struct option_usage symbols_usage = {
	"hvtrace symbols [OPTION]... IMAGE",
	"Prints what is found in a kernel image (a bzImage such as /boot/vmlinuz-*, or a vmlinux),\n"
	"as `key: value` lines.",
	"hvtrace symbols /boot/vmlinuz-6.1.0-56-amd64\n"
	"hvtrace symbols --functions vmlinuz | grep '^tcp_'\n"
	"hvtrace symbols --json vmlinuz | jq .release",
};

struct symbols_options {
	bool functions, symbols, nocache, json;
};

static int symbols_show(const char *image, const struct symbols_options *opt)
{
	struct guestsym_parsers *parsers;
	struct guestsym *gs = NULL;
	char err[512];
	struct json json = {.out = stdout}, *j = opt->json ? &json : NULL;
	int ret;

	if (!guestsym_parsers_start(&parsers, -1, err, sizeof(err)))
		gs = guestsym_open(parsers, image, opt->nocache ? GUESTSYM_FL_NOCACHE : 0, err,
				   sizeof(err));
	/* Their numbers are in the summary. */
	if (gs && !opt->functions && !opt->symbols && guestsym_find_sites(gs, err, sizeof(err))) {
		guestsym_close(gs);
		gs = NULL;
	}
	if (!gs) {
		guestsym_parsers_stop(parsers);
		fprintf(stderr, "hvtrace: %s\n", err);
		return EXIT_FAILED;
	}
	if (opt->functions)
		ret = j ? symbols_put_functions(gs, j) : symbols_print_functions(gs, stdout);
	else if (opt->symbols)
		ret = j ? symbols_put_symbols(gs, j) : symbols_print_symbols(gs, stdout);
	else
		ret = j ? symbols_put_summary(gs, j) : symbols_print_summary(gs, stdout);
	guestsym_close(gs);
	guestsym_parsers_stop(parsers);
	return ret ? EXIT_FAILED : EXIT_OK;
}

int cmd_symbols(int argc, char **argv)
{
	struct symbols_options opt = {0};
	const struct option_row rows[] = {
		OPT_FLAG('f', "functions", &opt.functions,
			 "list the traceable functions, as available_filter_functions does"),
		OPT_FLAG('s', "symbols", &opt.symbols, "list all symbols, as /proc/kallsyms does"),
		OPT_FLAG(0, "no-cache", &opt.nocache,
			 "parse the image anew, leave the cache alone"),
		OPT_FLAG(0, "json", &opt.json, "the same as JSON"),
		OPT_END,
	};
	int first = options_parse(argc, argv, rows, &symbols_usage);

	if (first < 0)
		return first == OPTIONS_HELP ? EXIT_OK : EXIT_USAGE;
	if (argc - first != 1) {
		fprintf(stderr,
			"hvtrace: symbols takes one kernel image (hvtrace symbols --help)\n");
		return EXIT_USAGE;
	}
	if (opt.functions && opt.symbols) {
		fprintf(stderr, "hvtrace: --functions and --symbols do not go together\n");
		return EXIT_USAGE;
	}
	return symbols_show(argv[first], &opt);
}
