// SPDX-License-Identifier: GPL-2.0-or-later
/* export.c - `hvtrace export`: what a trace.dat file has, for other programs. */
#include "frontend/cmd/command.h"
#include "frontend/cmd/export-dat.h"

#include <unistd.h>

struct export_options {
	struct dat_file_options file;
	const char *to;
	const struct export_format *format;
};

static const char about[] =
	"Writes what is in FILE, a trace.dat file of trace-cmd or of hvtrace's own, for other programs.\n"
	"HOST-FILE is what --host-events has recorded beside it: what the host did with the vCPUs. Files\n"
	"of several guests, and one that hvtrace merge has made of such, go together as perfetto, csv and\n"
	"json.\n"
	"Of the events only those are written that all options want, as with hvtrace report.\n"
	"FORMAT is one of";

/* With a line for each format. */
static void print_about(char *buf, size_t size)
{
	size_t len = (size_t)snprintf(buf, size, "%s", about);

	for (unsigned int i = 0; export_name(i) && len < size; i++)
		len += (size_t)snprintf(buf + len, size - len, "\n  %-11s %s", export_name(i),
					export_about(i));
}

/* One line says what is wrong. */
static bool check(struct export_options *opt)
{
	if (!opt->to) {
		fprintf(stderr,
			"hvtrace: --to FORMAT says what is written (hvtrace export --help)\n");
		return false;
	}
	opt->format = export_find(opt->to);
	if (!export_dat_check(opt->format))
		return false;
	opt->file.folder = export_is_folder(opt->format);
	if (!opt->file.out && opt->file.folder) {
		fprintf(stderr, "hvtrace: -o DIR says where it goes: %s is a folder of files\n",
			opt->to);
		return false;
	}
	if (!opt->file.out && export_is_binary(opt->format) && isatty(STDOUT_FILENO)) {
		fprintf(stderr,
			"hvtrace: -o FILE says where it goes: %s is nothing for a terminal\n",
			opt->to);
		return false;
	}
	return true;
}

int cmd_export(int argc, char **argv)
{
	struct export_options opt = {0};
	const struct option_row rows[] = {
		OPT_ONE_OF(export_name, 't', "to", &opt.to, "FORMAT", "what is written"),
		DAT_FILE_OPTION_ROWS(&opt.file),
		OPT_END,
	};
	char text[2048];
	const struct option_usage usage = {
		"hvtrace export --to FORMAT [OPTION]... FILE... [HOST-FILE]",
		text,
		"hvtrace export --to perfetto trace.dat -o trace.perfetto-trace\n"
		"hvtrace export --to perfetto guest1.dat guest1-host.dat -o both.perfetto-trace\n"
		"hvtrace export --to perfetto web.dat db.dat -o all.perfetto-trace",
	};
	int first, status = EXIT_USAGE;

	print_about(text, sizeof(text));
	first = options_parse(argc, argv, rows, &usage);
	if (first == OPTIONS_HELP)
		status = EXIT_OK;
	else if (first >= 0 && (argc == first || argc - first > DAT_FILES_MAX))
		fprintf(stderr,
			"hvtrace: export takes trace.dat files, %d at most (hvtrace export --help)\n",
			DAT_FILES_MAX);
	else if (first >= 0 && check(&opt))
		status = export_dat(opt.format, &opt.file, (const char *const *)&argv[first],
				    (size_t)(argc - first));
	dat_file_options_free(&opt.file);
	return status;
}
