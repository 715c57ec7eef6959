// SPDX-License-Identifier: GPL-2.0-or-later
/* report.c - `hvtrace report`: what a trace.dat file has, as text or JSON. */
#include "frontend/cmd/command.h"
#include "frontend/cmd/crash-line.h"
#include "frontend/decode/print.h"
#include "frontend/decode/select.h"
#include "frontend/lib/options.h"
#include "frontend/lib/output.h"
#include "frontend/sandbox/sandbox.h"
#include "guestsym/guestsym.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* What is read of a file, and what libtraceevent makes of it. */
#define MEMORY_MAX (UINT64_C(4) << 30)

struct report_options {
	struct option_list pids, comms, events, functions, filters, plugin_options;
	const char *cpus, *from, *to, *buffer, *out;
	bool stat, json, list, no_plugins, no_sandbox;
	struct print_config print;
};

static const struct option_usage report_usage = {
	"hvtrace report [OPTION]... FILE",
	"Prints what is in FILE, a trace.dat file of trace-cmd or of hvtrace's own, as trace-cmd report\n"
	"does. Of the events only those are printed that all options want; lists of them may be given\n"
	"by using an option several times.",
	"hvtrace report trace.dat\n"
	"hvtrace report -e sched:sched_switch --cpu 0 --from 12.5 --to 12.6 trace.dat\n"
	"hvtrace report -F 'sched_switch:prev_prio < 100' --json trace.dat",
};

/* What is open while a report is made. */
struct report {
	const struct report_options *opt;
	struct select_config wanted;
	FILE *out;
	struct formats *formats;
	struct dat *dat;
	struct records *records;
	struct select *select;
	struct print *print;
	char err[512];
};

/* --- times -------------------------------------------------------------------------------------
 */

/*
 * "12.345678": the times that are printed so, rounded as they are. Without a point also what a
 * clock counts that does not count nanoseconds.
 */
static bool read_time(const char *text, bool ns, uint64_t *first, uint64_t *last)
{
	uint64_t unit = ns ? 1000000000 : 1, whole, part = 0;
	char *end;

	errno = 0;
	whole = strtoull(text, &end, 10);
	if (end == text || errno || *text == '-' || whole > UINT64_MAX / unit - 1)
		return false;
	if (*end == '.' && ns)
		for (end++; *end >= '0' && *end <= '9' && unit > 1; end++) {
			unit /= 10;
			part += (uint64_t)(*end - '0') * unit;
		}
	if (*end)
		return false;
	whole = whole * (ns ? 1000000000 : 1) + part;
	/* Times are printed to the microsecond; what has fewer digits is not meant to be less
	 * exact. */
	if (unit > 1000)
		unit = ns ? 1000 : 1;
	*first = whole >= unit / 2 ? whole - unit / 2 : 0;
	*last = whole + (unit - 1) / 2;
	return true;
}

static bool read_range(struct report *r)
{
	const struct report_options *opt = r->opt;
	bool ns = dat_counts_ns(dat_info(r->dat));
	uint64_t ignored;

	r->wanted.has_from = opt->from;
	r->wanted.has_to = opt->to;
	if (opt->from && !read_time(opt->from, ns, &r->wanted.from, &ignored))
		snprintf(r->err, sizeof(r->err), "--from: no time of this trace: %s", opt->from);
	else if (opt->to && !read_time(opt->to, ns, &ignored, &r->wanted.to))
		snprintf(r->err, sizeof(r->err), "--to: no time of this trace: %s", opt->to);
	else
		return true;
	return false;
}

/* --- opening -----------------------------------------------------------------------------------
 */

static struct select_list list_of(const struct option_list *l)
{
	return (struct select_list){l->values, l->nr};
}

/* Everything that takes a name: then the file is read, by who can open nothing else. */
static int open_file(struct report *r, const char *path)
{
	const struct report_options *opt = r->opt;
	const struct formats_config plugins = {
		.no_plugins = opt->no_plugins || opt->json || opt->stat || opt->list,
		.options = opt->plugin_options.values,
		.nr_options = opt->plugin_options.nr,
	};
	struct stat st;
	int fd = guestsym_open_regular(path, &st);

	if (fd < 0) {
		snprintf(r->err, sizeof(r->err), "%s: %s", path,
			 fd == -EINVAL ? "it is not a regular file" : strerror(-fd));
		return -1;
	}
	r->out = output_open(opt->out, NULL);
	if (!r->out)
		snprintf(r->err, sizeof(r->err), "%s: %s", opt->out ? opt->out : "stdout",
			 strerror(errno));
	else if (!(r->formats = formats_new(&plugins)))
		snprintf(r->err, sizeof(r->err), "no memory");
	return fd;
}

static size_t find_buffer(struct report *r)
{
	const char *name = r->opt->buffer;

	if (!name)
		return RECORDS_ALL;
	for (size_t i = 0; i < dat_nr_buffers(r->dat); i++)
		if (!strcmp(dat_buffer(r->dat, i)->name, name))
			return i;
	snprintf(r->err, sizeof(r->err), "%s: it has no buffer %s", dat_info(r->dat)->name, name);
	return 0;
}

static void open_records(struct report *r)
{
	size_t buffer = find_buffer(r);

	if (*r->err || formats_load(r->formats, dat_info(r->dat), r->err, sizeof(r->err)) ||
	    !read_range(r))
		return;
	r->select = select_new(&r->wanted, r->dat, r->formats, r->err, sizeof(r->err));
	if (!r->select)
		return;
	r->records = records_open(r->dat, buffer);
	if (r->records)
		r->print = print_new(r->dat, r->formats, r->records, &r->opt->print);
	if (!r->print) {
		snprintf(r->err, sizeof(r->err), "no memory");
		return;
	}
	records_select(r->records, select_wants, r->select);
}

static void open_all(struct report *r, const char *path)
{
	int fd = open_file(r, path);
	char line[512];

	if (*r->err)
		return;
	snprintf(
		line, sizeof(line),
		"hvtrace: %.256s: its formats are more than libtraceevent can cope with: it may be "
		"damaged, or made to do harm\n",
		path);
	crash_line_set(line);
	if (!r->opt->no_sandbox && sandbox_enter(MEMORY_MAX, r->err, sizeof(r->err)))
		return;
	r->dat = dat_open_fd(fd, path, r->err, sizeof(r->err));
	if (!r->dat)
		return;
	if (!dat_nr_buffers(r->dat))
		snprintf(r->err, sizeof(r->err), "%s: it has no records", path);
	else
		open_records(r);
}

static int close_all(struct report *r, int status)
{
	print_free(r->print);
	records_close(r->records);
	select_free(r->select);
	dat_close(r->dat);
	formats_free(r->formats);
	if (r->out && (ferror(r->out) | fclose(r->out)) && status == EXIT_OK) {
		fprintf(stderr, "hvtrace: cannot write: %s\n", strerror(errno));
		status = EXIT_FAILED;
	}
	return status;
}

/* --- reports -----------------------------------------------------------------------------------
 */

static const struct decode_event *next_event(struct report *r)
{
	return ferror(r->out) ? NULL : records_next(r->records);
}

static void print_events(struct report *r)
{
	const struct decode_event *ev;

	while ((ev = next_event(r))) {
		if (r->opt->json)
			print_json(r->dat, r->formats, ev, r->out);
		else
			print_text(r->print, ev, r->out);
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
		const struct tep_event *event = formats_event(r->formats, counts[i].id);

		fprintf(r->out, "%12" PRIu64 " ", counts[i].nr);
		if (event)
			fprintf(r->out, "%s:%s\n", event->system, event->name);
		else
			fprintf(r->out, "%d, of which the file has no format\n", counts[i].id);
	}
}

/* Of a file of a guest that was traced together with its host by trace-cmd. */
static void tell_shift(const struct report *r)
{
	struct dat_text shift;

	if (dat_option(r->dat, DAT_OPTION_TIME_SHIFT, 0, &shift) && shift.len >= 16)
		fprintf(stderr,
			"hvtrace: warning: %s: times are the guest's own: what makes them its "
			"host's is not applied\n",
			dat_info(r->dat)->name);
}

/* What was not all there. */
static int tell_damage(struct report *r)
{
	const char *error = records_error(r->records);
	uint64_t damaged = records_damaged(r->records);

	if (error)
		fprintf(stderr, "hvtrace: %s\n", error);
	if (damaged)
		fprintf(stderr,
			"hvtrace: %s: %" PRIu64 " of its pages are damaged: records are missing\n",
			dat_info(r->dat)->name, damaged);
	return error || damaged ? EXIT_FAILED : EXIT_OK;
}

static int report(struct report *r)
{
	const struct report_options *opt = r->opt;

	if (!opt->json && !opt->list)
		fprintf(r->out, "cpus=%u\n", dat_buffer(r->dat, 0)->cpus);
	if (opt->stat) {
		print_stat(r->dat, r->out);
		return EXIT_OK;
	}
	tell_shift(r);
	if (opt->list)
		list_events(r);
	else
		print_events(r);
	fflush(r->out);
	return tell_damage(r);
}

static int report_checked(const struct report_options *opt, const char *path)
{
	struct report r = {
		.opt = opt,
		.wanted =
			{
				.cpus = opt->cpus,
				.pids = list_of(&opt->pids),
				.comms = list_of(&opt->comms),
				.events = list_of(&opt->events),
				.functions = list_of(&opt->functions),
				.filters = list_of(&opt->filters),
			},
	};

	open_all(&r, path);
	if (!*r.err)
		return close_all(&r, report(&r));
	fprintf(stderr, "hvtrace: %s\n", r.err);
	return close_all(&r, EXIT_FAILED);
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

int cmd_report(int argc, char **argv)
{
	struct report_options opt = {0};
	const struct option_row rows[] = {
		OPT_STRING(0, "cpu", &opt.cpus, "LIST", "events of these vCPUs: 0,2-3"),
		OPT_LIST(0, "pid", &opt.pids, "PID", "events in this task; may be repeated"),
		OPT_LIST(0, "comm", &opt.comms, "NAME",
			 "events in tasks of this name, a glob; may be repeated"),
		OPT_LIST('e', "event", &opt.events, "EVENT",
			 "these events: [SYSTEM:]EVENT, globs; may be repeated"),
		OPT_LIST('f', "function", &opt.functions, "NAME",
			 "calls of these functions, a glob; may be repeated"),
		OPT_STRING(0, "from", &opt.from, "TIME",
			   "events from then on, as printed: 12.345678"),
		OPT_STRING(0, "to", &opt.to, "TIME", "events until then"),
		OPT_STRING(0, "buffer", &opt.buffer, "NAME", "events of this instance's buffer"),
		OPT_LIST('F', "filter", &opt.filters, "FILTER",
			 "EVENT:EXPRESSION, as trace-cmd report -F; may be repeated"),
		OPT_FLAG('t', "nanoseconds", &opt.print.nanoseconds, "all digits of times"),
		OPT_FLAG('l', "latency", &opt.print.latency,
			 "also whether interrupts are off, and such"),
		OPT_FLAG('R', "raw", &opt.print.raw, "fields of events as they are"),
		OPT_LIST('O', "option", &opt.plugin_options, "OPTION",
			 "fgraph:tailprint, fgraph:depth, or of a plugin; may be repeated"),
		OPT_FLAG('N', "no-plugins", &opt.no_plugins, "events by nothing but their formats"),
		OPT_FLAG(0, "json", &opt.json, "an object of JSON in a line for each event"),
		OPT_FLAG(0, "list", &opt.list, "how many there are of each event"),
		OPT_FLAG(0, "stat", &opt.stat, "what the buffers said when they were written"),
		OPT_FLAG(0, "no-sandbox", &opt.no_sandbox,
			 "keep all rights while the file is read; for debugging hvtrace"),
		OPT_STRING('o', "output", &opt.out, "FILE", "where it goes (default: stdout)"),
		OPT_END,
	};
	struct option_list *const lists[] = {&opt.pids,	     &opt.comms,   &opt.events,
					     &opt.functions, &opt.filters, &opt.plugin_options};
	int first = options_parse(argc, argv, rows, &report_usage), status = EXIT_USAGE;

	if (first == OPTIONS_HELP) {
		status = EXIT_OK;
	} else if (first >= 0 && argc - first != 1) {
		fprintf(stderr,
			"hvtrace: report takes one trace.dat file (hvtrace report --help)\n");
	} else if (opt.json + opt.list + opt.stat > 1) {
		fprintf(stderr, "hvtrace: --json, --list and --stat do not go together\n");
	} else if (first >= 0) {
		opt.print.plain = opt.no_plugins;
		take_graph_options(&opt);
		status = report_checked(&opt, argv[first]);
	}
	for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++)
		option_list_free(lists[i]);
	return status;
}
