// SPDX-License-Identifier: GPL-2.0-or-later
/* report.c - `hvtrace report`: what a trace.dat file has, as text, as JSON or as a page. */
#include "frontend/cmd/command.h"
#include "frontend/cmd/export-dat.h"
#include "frontend/decode/several.h"
#include "frontend/lib/json.h"
#include "frontend/lib/output.h"

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
	"hvtrace report [OPTION]... FILE...",
	"Prints what is in FILE, a trace.dat file of trace-cmd or of hvtrace's own, as trace-cmd report\n"
	"does; of several, such as those of a guest and of its host, in the order of their times. Events\n"
	"are printed that all options choose. An option that is given several times chooses what any of\n"
	"its values does, and -e and -f together what either does.",
	"hvtrace report trace.dat\n"
	"hvtrace report -e sched:sched_switch --cpu 0 --from 12.5 --until 12.6 trace.dat\n"
	"hvtrace report guest1.dat guest1-host.dat\n"
	"hvtrace report -F 'sched_switch:prev_prio < 100' --json trace.dat\n"
	"hvtrace report --html trace.html trace.dat",
};

/* What is open while a report is made. */
struct report {
	const struct report_options *opt;
	struct dat_file *file;	 /* the first one has the output */
	struct several_file *in; /* those that have something wanted */
	size_t nr_files, nr;
	FILE *out;
};

/* --- reports -----------------------------------------------------------------------------------
 */

static void print_events_json(struct report *r)
{
	const struct several_file *f;

	while (!ferror(r->out) && (f = several_next(r->in, r->nr)))
		print_json(f->dat, f->formats, r->nr_files > 1 ? dat_title(f->dat) : NULL, f->next,
			   r->out);
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

static void put_counts(const struct dat_file *file, FILE *out, const struct count *counts)
{
	struct json j = {.out = out};

	json_begin_array(&j, NULL);
	for (int i = 0; i <= UINT16_MAX && counts[i].nr; i++) {
		const struct tep_event *event = formats_event(file->formats, counts[i].id);

		json_begin_object(&j, NULL);
		json_put_text(&j, "system", event ? event->system : NULL);
		json_put_text(&j, "event", event ? event->name : NULL);
		json_put_number(&j, "id", (uint64_t)counts[i].id);
		json_put_number(&j, "count", counts[i].nr);
		json_end_object(&j);
	}
	json_end_array(&j);
}

/* Those that there are most of first. */
static void list_events(const struct report *r, const struct dat_file *file)
{
	static struct count counts[UINT16_MAX + 1];
	const struct decode_event *ev;
	FILE *out = r->out;

	for (int i = 0; i <= UINT16_MAX; i++)
		counts[i] = (struct count){.id = i};
	while (!ferror(out) && (ev = records_next(file->records)))
		counts[ev->id].nr++;
	qsort(counts, UINT16_MAX + 1, sizeof(*counts), by_count);
	if (r->opt->json) {
		put_counts(file, out, counts);
		return;
	}
	for (int i = 0; i <= UINT16_MAX && counts[i].nr; i++) {
		const struct tep_event *event = formats_event(file->formats, counts[i].id);

		fprintf(out, "%12" PRIu64 " ", counts[i].nr);
		if (event)
			fprintf(out, "%s:%s\n", event->system, event->name);
		else
			fprintf(out, "%d, of which the file has no format\n", counts[i].id);
	}
}

/* File by file. */
static void report_each(struct report *r)
{
	for (size_t i = 0; i < r->nr_files; i++) {
		const struct dat_file *f = &r->file[i];

		if (r->nr_files > 1 && !r->opt->json)
			fprintf(r->out, "%s:\n", dat_title(f->dat));
		if (r->opt->stat) {
			fprintf(r->out, "cpus=%u\n", dat_buffer(f->dat, 0)->cpus);
			print_stat(f->dat, r->out);
		} else if (f->records) {
			list_events(r, f);
		}
	}
}

static void report_together(struct report *r)
{
	if (r->opt->json)
		print_events_json(r);
	else
		several_print(r->in, r->nr, r->out);
}

static int report(struct report *r)
{
	int status = EXIT_OK;

	if (r->opt->stat || r->opt->list)
		report_each(r);
	else
		report_together(r);
	fflush(r->out);
	if (!r->opt->stat)
		dat_files_tell_nothing(r->file, r->nr_files);
	for (size_t i = 0; i < r->nr_files && !r->opt->stat; i++)
		if (dat_file_tell_damage(&r->file[i]))
			status = EXIT_FAILED;
	return status;
}

/* False: no memory. */
static bool prepare(struct report *r)
{
	struct print_config cfg = r->opt->print;

	for (size_t i = 0, wanted = 0; i < r->nr_files; i++) {
		wanted += r->file[i].records != NULL;
		cfg.no_buffer = wanted > 1;
	}
	for (size_t i = 0; i < r->nr_files; i++) {
		const struct dat_file *f = &r->file[i];
		struct several_file *in = &r->in[r->nr];

		*in = (struct several_file){f->dat, f->records, f->formats, NULL, NULL, false};
		if (!f->records)
			continue;
		r->nr++;
		in->print = print_new(f->dat, f->formats, f->records, &cfg);
		if (!in->print)
			return false;
	}
	return true;
}

static int report_opened(struct report *r)
{
	int status = EXIT_FAILED;

	r->out = r->file->out;
	if (prepare(r))
		status = report(r);
	else
		fprintf(stderr, "hvtrace: no memory\n");
	for (size_t i = 0; i < r->nr; i++)
		print_free(r->in[i].print);
	return status;
}

static int report_checked(const struct report_options *opt, const char *const *paths, size_t nr)
{
	const struct formats_config plugins = {
		.no_plugins = opt->no_plugins || opt->json || opt->stat || opt->list,
		.options = opt->plugin_options.values,
		.nr_options = opt->plugin_options.nr,
	};
	struct report r = {.opt = opt};
	int status = EXIT_FAILED;

	/* One of several guests becomes several. */
	r.file = calloc(DAT_FILES_MAX, sizeof(*r.file));
	r.in = calloc(DAT_FILES_MAX, sizeof(*r.in));
	if (!opt->json && !opt->list && !opt->stat)
		output_paint(PAINT_TRACE);
	if (!r.file || !r.in) {
		fprintf(stderr, "hvtrace: no memory\n");
	} else {
		if (dat_files_open(r.file, paths, &nr, &opt->file, &plugins)) {
			r.nr_files = nr;
			status = report_opened(&r);
		}
		for (size_t i = 0; i < nr; i++)
			status = dat_file_close(&r.file[i], status);
	}
	free(r.file);
	free(r.in);
	return status;
}

int report_files(const char *const *paths, size_t nr, const char *out)
{
	const struct report_options opt = {.file = {.out = out}};

	return report_checked(&opt, paths, nr);
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
static int write_page(struct report_options *opt, const char *const *paths, size_t nr)
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
	return export_dat(page, &opt->file, paths, nr);
}

int cmd_report(int argc, char **argv)
{
	struct report_options opt = {0};
	const struct option_row rows[] = {
		DAT_FILE_OPTION_ROWS(&opt.file),
		OPT_STRING(0, "to", &opt.file.until, "TIME", "the same as --until"),
		OPT_FLAG('t', "nanoseconds", &opt.print.nanoseconds, "all digits of times"),
		OPT_FLAG('l', "latency", &opt.print.latency,
			 "also whether interrupts are off, and such"),
		OPT_FLAG('R', "raw", &opt.print.raw, "fields of events as they are"),
		OPT_LIST('O', "option", &opt.plugin_options, "OPTION",
			 "fgraph:tailprint, fgraph:depth, or of a plugin; may be repeated"),
		OPT_FLAG('N', "no-plugins", &opt.no_plugins, "events by nothing but their formats"),
		OPT_FLAG(0, "json", &opt.json,
			 "an object of JSON in a line for each event; with --list an array of all"),
		OPT_STRING(0, "html", &opt.html, "FILE",
			   "no text: a page to look at in any browser"),
		OPT_FLAG(0, "list", &opt.list, "how many there are of each event"),
		OPT_FLAG(0, "stat", &opt.stat, "what the buffers said when they were written"),
		OPT_COLOR,
		OPT_END,
	};
	int first = options_parse(argc, argv, rows, &report_usage), status = EXIT_USAGE;

	if (first == OPTIONS_HELP) {
		status = EXIT_OK;
	} else if (first >= 0 && (argc == first || argc - first > DAT_FILES_MAX)) {
		fprintf(stderr,
			"hvtrace: report takes trace.dat files, %d at most (hvtrace report --help)\n",
			DAT_FILES_MAX);
	} else if ((opt.stat || opt.html) && (opt.json + opt.list + opt.stat + !!opt.html > 1)) {
		fprintf(stderr,
			"hvtrace: --stat and --html go with no other form, neither --json nor --list\n");
	} else if (opt.html && first >= 0 && argc - first > 2) {
		fprintf(stderr, "hvtrace: --html: a page is of one guest, and of its host\n");
	} else if (opt.html && first >= 0) {
		status =
			write_page(&opt, (const char *const *)&argv[first], (size_t)(argc - first));
	} else if (first >= 0) {
		opt.print.plain = opt.no_plugins;
		take_graph_options(&opt);
		status = report_checked(&opt, (const char *const *)&argv[first],
					(size_t)(argc - first));
	}
	option_list_free(&opt.plugin_options);
	dat_file_options_free(&opt.file);
	return status;
}
