// SPDX-License-Identifier: GPL-2.0-or-later
/* boot.c - `hvtrace boot`: a kernel's boot, its initcalls and what else takes long, as a chart. */
#include "frontend/cmd/command.h"
#include "frontend/cmd/export-dat.h"
#include "frontend/cmd/job.h"
#include "frontend/jobs/boot.h"
#include "frontend/lib/output.h"
#include "frontend/report/render.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct boot_options {
	struct run_options run;
	struct job_options job;
	enum boot_sort by;
	const char *title, *html;
	const struct export_format *page; /* what that is written by, or NULL */
	bool blocks;			  /* the terminal shows Unicode */
};

static const struct option_usage usage = {
	"hvtrace boot [OPTION]... [FILE]",
	"Boots a kernel in a machine of its own, as hvtrace run does, up to its first program, and shows\n"
	"what took how long: the levels of initcalls, the slowest of these, and with -f functions, too.\n"
	"--svg draws a chart of it, --html writes a page to look at. FILE is a trace.dat of a boot with\n"
	"the events of initcall. Times are those of the kernel's clock, which begins with the boot.",
	"hvtrace boot -k bzImage -i initrd --svg boot.svg\n"
	"hvtrace boot -c 4 -f '*_probe' -f 'pci_*' --limit 40\n"
	"hvtrace record run -i initrd -e 'initcall:*' -o boot.dat; hvtrace boot boot.dat",
};

/* Of functions always that one, which tells when. */
static int trace_boot(const void *arg, const char *path)
{
	const struct boot_options *opt = arg;
	const struct option_list *wanted = &opt->run.session.filter;
	const char *events[] = {"initcall:*", "sched:sched_process_exec"};
	const char **filter = calloc(wanted->nr + 1, sizeof(*filter));
	struct run_options run = opt->run;
	struct session_options *s = &run.session;
	int status;

	if (!filter) {
		fprintf(stderr, "hvtrace: out of memory\n");
		return EXIT_FAILED;
	}
	for (size_t i = 0; i < wanted->nr; i++)
		filter[i] = wanted->values[i];
	filter[wanted->nr] = BOOT_FIRST_PROGRAM;
	s->filter = (struct option_list){filter, wanted->nr + 1};
	s->events = (struct option_list){events, 2};
	s->tracer = wanted->nr ? "function_graph" : "function";
	s->output = path;
	s->record = true;
	s->unheard = !opt->job.keep;
	s->no_mount = true;
	s->no_sandbox = opt->job.file.no_sandbox;
	if (!s->until)
		s->until = BOOT_FIRST_PROGRAM;
	status = run_guest(&run);
	free(filter);
	return status;
}

static void put(const struct job_options *job, const struct job_result *r, FILE *out, FILE *svg)
{
	const struct boot_options *opt =
		(const void *)((const char *)job - offsetof(struct boot_options, job));
	const struct boot_view view = {job->rows, opt->by, opt->title};
	const struct latency_view functions = {.rows = job->rows, .blocks = opt->blocks};
	struct text text = {0};

	if (svg) {
		boot_render_svg(r->boot, &view, &text);
		job_put_text(&text, svg);
		text.len = 0;
	}
	if (job->json) {
		boot_json(r->boot, &view, out);
	} else {
		boot_render_text(r->boot, &view, &text);
		if (r->report.nr) {
			text_putc(&text, '\n');
			render_latency(&r->report, &functions, &text);
		}
		job_put_text(&text, out);
	}
	text_free(&text);
}

/* --- options ------------------------------------------------------------------------------------
 */

static const char *const sorts[] = {[BOOT_TOOK] = "took", [BOOT_FROM] = "from"};

static const char *sort_name(unsigned int i)
{
	return i < sizeof(sorts) / sizeof(*sorts) ? sorts[i] : NULL;
}

/* One line says what is wrong. */
static bool check(struct boot_options *opt, bool is_file)
{
	const struct run_options *run = &opt->run;

	if (opt->job.sort && !strcmp(opt->job.sort, sorts[BOOT_FROM]))
		opt->by = BOOT_FROM;
	if (!is_file)
		return run_options_check(run);
	if (!run->kernel && !run->initrd && !*run->append && !run->session.until &&
	    !run->session.limit_ms && !run->session.filter.nr && !opt->job.keep)
		return true;
	fprintf(stderr,
		"hvtrace: --kernel, --initrd, --append, --for, --until, --filter and --keep are for "
		"what is booted, not for a FILE (hvtrace boot --help)\n");
	return false;
}

static int write_page(const void *arg, const char *path)
{
	const struct boot_options *opt = arg;
	const struct dat_file_options file = {.out = opt->html,
					      .no_sandbox = opt->job.file.no_sandbox};

	return export_dat(opt->page, &file, &path, 1);
}

static int boot(struct boot_options *opt, const char *file)
{
	const struct job_command what = {
		.name = "boot", .job = &job_boot, .usage = &usage, .put = put};
	struct recording rec = {.path = file};
	int status, traced = EXIT_OK, page = EXIT_OK;

	if (!check(opt, file))
		return EXIT_USAGE;
	opt->page = opt->html ? export_find("html") : NULL;
	if (opt->page && !export_dat_check(opt->page))
		return EXIT_FAILED;
	if (!file)
		traced = recording_make(&rec, opt->job.keep, trace_boot, opt);
	if (opt->page && rec.path)
		page = recording_apart(write_page, opt, rec.path);
	status = rec.path ? job_answer(&what, &opt->job, &rec) : EXIT_FAILED;
	return traced ? traced : status ? status : page;
}

int cmd_boot(int argc, char **argv)
{
	struct boot_options opt = {
		.run = RUN_OPTIONS_DEFAULT, .job = {.rows = 20}, .title = "Boot"};
	const struct option_row rows[] = {
		RUN_OPTION_ROWS(&opt.run),
		OPT_LIST('f', "filter", &opt.run.session.filter, "GLOB",
			 "how long functions that match take, too (function_graph); may be "
			 "repeated"),
		OPT_ONE_OF(sort_name, 's', "sort", &opt.job.sort, "KEY",
			   "by took (default) or from"),
		OPT_NUMBER('l', "limit", &opt.job.rows, 1, BOOT_CALLS_MAX, "N",
			   "show the N slowest initcalls (default: 20)"),
		OPT_STRING(0, "svg", &opt.job.svg, "FILE", "draw a chart, too"),
		OPT_STRING(0, "html", &opt.html, "FILE",
			   "write a page of it, too, as hvtrace report does"),
		OPT_STRING(0, "title", &opt.title, "TEXT", "above the chart"),
		OPT_FLAG('j', "json", &opt.job.json, "for programs: one object of JSON"),
		OPT_STRING('o', "output", &opt.job.file.out, "FILE",
			   "where it goes (default: stdout)"),
		OPT_STRING(0, "keep", &opt.job.keep, "FILE",
			   "keep what is recorded as this trace.dat"),
		OPT_STRING(0, "until", &opt.run.session.until, "FUNCTION",
			   "stop when it is called (default: " BOOT_FIRST_PROGRAM ")"),
		OPT_TIME(0, "for", &opt.run.session.limit_ms, "TIME",
			 "stop after this time (5, 1.5s, 200ms, 2m)"),
		OPT_FLAG(0, "console", &opt.run.console,
			 "the guest's console on stderr, input from stdin"),
		OPT_SIZE_KB('b', "buffer-kb", &opt.run.session.buffer_bytes, 8 << 10,
			    UINT64_C(1) << 40, "KB", "ring buffer of each vCPU, as of hvtrace run"),
		OPT_FLAG(0, "no-sandbox", &opt.job.file.no_sandbox,
			 "keep all rights; for debugging hvtrace"),
		OPT_COLOR,
		OPT_END,
	};
	int first = options_parse(argc, argv, rows, &usage), status = EXIT_USAGE;

	opt.blocks = output_is_utf8();
	if (first == OPTIONS_HELP)
		status = EXIT_OK;
	else if (first >= 0 && argc - first > 1)
		fprintf(stderr, "hvtrace: boot takes one file (hvtrace boot --help)\n");
	else if (first >= 0)
		status = boot(&opt, first < argc ? argv[first] : NULL);
	session_options_free(&opt.run.session);
	return status;
}
