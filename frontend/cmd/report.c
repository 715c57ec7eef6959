// SPDX-License-Identifier: GPL-2.0-or-later
/* report.c - `hvtrace report`: what a trace.dat file has, as text, as JSON or as a page. */
#include "frontend/cmd/command.h"
#include "frontend/cmd/export-dat.h"
#include "frontend/decode/print.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct report_options {
	struct dat_file_options file;
	struct option_list plugin_options;
	const char *html;
	bool stat, json, list, no_plugins;
	struct print_config print;
};

static const struct option_usage report_usage = {
	"hvtrace report [OPTION]... FILE",
	"Prints what is in FILE, a trace.dat file of trace-cmd or of hvtrace's own, as trace-cmd report\n"
	"does. Of the events only those are printed that all options want; lists of them may be given\n"
	"by using an option several times.",
	"hvtrace report trace.dat\n"
	"hvtrace report -e sched:sched_switch --cpu 0 --from 12.5 --to 12.6 trace.dat\n"
	"hvtrace report -F 'sched_switch:prev_prio < 100' --json trace.dat\n"
	"hvtrace report --html trace.html trace.dat",
};

/* What is open while a report is made. */
struct report {
	const struct report_options *opt;
	struct dat_file file;
	struct print *print;
};

/* --- reports -----------------------------------------------------------------------------------
 */

static const struct decode_event *next_event(struct report *r)
{
	return ferror(r->file.out) ? NULL : records_next(r->file.records);
}

static void print_events(struct report *r)
{
	const struct decode_event *ev;

	while ((ev = next_event(r))) {
		if (r->opt->json)
			print_json(r->file.dat, r->file.formats, ev, r->file.out);
		else
			print_text(r->print, ev, r->file.out);
	}
}

struct count {
	uint64_t nr;
	int id;
};

static int by_count(const void *a, const void *b)
{
	const struct count *x = a, *y = b;

	return x->nr != y->nr ? (x->nr < y->nr) - (x->nr > y->nr) : x->id - y->id;
}

/* Those that there are most of first. */
static void list_events(struct report *r)
{
	static struct count counts[UINT16_MAX + 1];
	const struct decode_event *ev;

	for (int i = 0; i <= UINT16_MAX; i++)
		counts[i].id = i;
	while ((ev = next_event(r)))
		counts[ev->id].nr++;
	qsort(counts, UINT16_MAX + 1, sizeof(*counts), by_count);
	for (int i = 0; i <= UINT16_MAX && counts[i].nr; i++) {
		const struct tep_event *event = formats_event(r->file.formats, counts[i].id);

		fprintf(r->file.out, "%12" PRIu64 " ", counts[i].nr);
		if (event)
			fprintf(r->file.out, "%s:%s\n", event->system, event->name);
		else
			fprintf(r->file.out, "%d, of which the file has no format\n", counts[i].id);
	}
}

/* Of a file of a guest that was traced together with its host by trace-cmd. */
static void tell_shift(const struct report *r)
{
	struct dat_text shift;

	if (dat_option(r->file.dat, DAT_OPTION_TIME_SHIFT, 0, &shift) && shift.len >= 16)
		fprintf(stderr,
			"hvtrace: warning: %s: times are the guest's own: what makes them its "
			"host's is not applied\n",
			dat_info(r->file.dat)->name);
}

static int report(struct report *r)
{
	const struct report_options *opt = r->opt;

	if (!opt->json && !opt->list)
		fprintf(r->file.out, "cpus=%u\n", dat_buffer(r->file.dat, 0)->cpus);
	if (opt->stat) {
		print_stat(r->file.dat, r->file.out);
		return EXIT_OK;
	}
	tell_shift(r);
	if (opt->list)
		list_events(r);
	else
		print_events(r);
	fflush(r->file.out);
	return dat_file_tell_damage(&r->file);
}

static int report_printed(struct report *r)
{
	int status = EXIT_FAILED;

	r->print = print_new(r->file.dat, r->file.formats, r->file.records, &r->opt->print);
	if (r->print)
		status = report(r);
	else
		fprintf(stderr, "hvtrace: no memory\n");
	print_free(r->print);
	return status;
}

static int report_checked(const struct report_options *opt, const char *path)
{
	const struct formats_config plugins = {
		.no_plugins = opt->no_plugins || opt->json || opt->stat || opt->list,
		.options = opt->plugin_options.values,
		.nr_options = opt->plugin_options.nr,
	};
	struct report r = {.opt = opt};
	int status = EXIT_FAILED;

	if (dat_file_open(&r.file, path, &opt->file, &plugins))
		status = report_printed(&r);
	return dat_file_close(&r.file, status);
}

/* --- options -----------------------------------------------------------------------------------
 */

/* Of function_graph's events, which no plugin prints: "fgraph:tailprint", "depth=1". */
static void take_graph_options(struct report_options *opt)
{
	const struct {
		const char *name;
		bool *value;
	} own[] = {{"tailprint", &opt->print.graph_tail}, {"depth", &opt->print.graph_depth}};

	for (size_t i = 0; i < opt->plugin_options.nr; i++) {
		const char *name = opt->plugin_options.values[i], *value = strchr(name, '=');

		if (!strncmp(name, "fgraph:", 7))
			name += 7;
		for (size_t o = 0; o < sizeof(own) / sizeof(*own); o++)
			if (!strncmp(name, own[o].name, strlen(own[o].name)) &&
			    strchr("=", name[strlen(own[o].name)]))
				*own[o].value =
					!value || !strcmp(value, "=1") || !strcmp(value, "=true");
	}
}

/* The page has all times with all digits, and prints events by nothing but their formats. */
static int write_page(struct report_options *opt, const char *path)
{
	const struct export_format *page = export_find("html");

	if (opt->file.out) {
		fprintf(stderr, "hvtrace: --html %s says where the page goes: -o is not for it\n",
			opt->html);
		return EXIT_USAGE;
	}
	if (!export_dat_check(page))
		return EXIT_FAILED;
	opt->file.out = opt->html;
	return export_dat(page, &opt->file, path);
}

int cmd_report(int argc, char **argv)
{
	struct report_options opt = {0};
	const struct option_row rows[] = {
		DAT_FILE_OPTION_ROWS(&opt.file, "to"),
		OPT_FLAG('t', "nanoseconds", &opt.print.nanoseconds, "all digits of times"),
		OPT_FLAG('l', "latency", &opt.print.latency,
			 "also whether interrupts are off, and such"),
		OPT_FLAG('R', "raw", &opt.print.raw, "fields of events as they are"),
		OPT_LIST('O', "option", &opt.plugin_options, "OPTION",
			 "fgraph:tailprint, fgraph:depth, or of a plugin; may be repeated"),
		OPT_FLAG('N', "no-plugins", &opt.no_plugins, "events by nothing but their formats"),
		OPT_FLAG(0, "json", &opt.json, "an object of JSON in a line for each event"),
		OPT_STRING(0, "html", &opt.html, "FILE",
			   "no text: a page to look at in any browser"),
		OPT_FLAG(0, "list", &opt.list, "how many there are of each event"),
		OPT_FLAG(0, "stat", &opt.stat, "what the buffers said when they were written"),
		OPT_END,
	};
	int first = options_parse(argc, argv, rows, &report_usage), status = EXIT_USAGE;

	if (first == OPTIONS_HELP) {
		status = EXIT_OK;
	} else if (first >= 0 && argc - first != 1) {
		fprintf(stderr,
			"hvtrace: report takes one trace.dat file (hvtrace report --help)\n");
	} else if (opt.json + opt.list + opt.stat + !!opt.html > 1) {
		fprintf(stderr, "hvtrace: --json, --html, --list and --stat do not go together\n");
	} else if (opt.html && first >= 0) {
		status = write_page(&opt, argv[first]);
	} else if (first >= 0) {
		opt.print.plain = opt.no_plugins;
		take_graph_options(&opt);
		status = report_checked(&opt, argv[first]);
	}
	option_list_free(&opt.plugin_options);
	dat_file_options_free(&opt.file);
	return status;
}
