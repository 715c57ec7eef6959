// SPDX-License-Identifier: GPL-2.0-or-later
/* latency.c - `hvtrace latency`: how long a guest's kernel has interrupts off, and the like. */
#include "frontend/cmd/command.h"
#include "frontend/cmd/job.h"
#include "frontend/control/client.h"
#include "frontend/lib/output.h"
#include "frontend/remote/remote.h"
#include "frontend/report/latency.h"
#include "frontend/session/attach.h"
#include "frontend/session/connect.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#define LATENCY_FILE "hvtrace/latency"

struct latency_options {
	const char *guest, *tracer, *sort, *svg, *out, *summary;
	uint64_t window_ms, window_bytes, rows;
	enum latency_sort by;
	bool stacks, unicode, no_sandbox, json;
	struct attach_target target; /* name NULL: the trace under way */
};

static const struct option_usage latency_usage = {
	"hvtrace latency [OPTION]... [DOMAIN|FILE]",
	"Shows how long a guest's kernel keeps interrupts off, or lets tasks wait. Each such time is\n"
	"counted, by the functions in which it began and ended: the table shows how often that was,\n"
	"the mean, the 99th percentile, the longest and a histogram. DOMAIN, as hvtrace attach takes it,\n"
	"is traced for a while; without it the figures are those of a trace under way, since\n"
	"hvtrace/latency_enabled was set. FILE is a trace.dat: its events of preemptirq are counted, or\n"
	"the window that irqsoff and such have recorded, or how long tasks waited for a vCPU. A histogram\n"
	"has a column for each power of two, and P99 is the end of the column that it is in.",
	"hvtrace latency mydomain\n"
	"hvtrace latency mydomain -t preemptirqsoff --for 30s --svg windows.svg\n"
	"hvtrace latency --stack --sort total\n"
	"hvtrace latency trace.dat --json",
};

/* --- figures ---------------------------------------------------------------------------------- */

static int write_picture(const struct latency_report *r, const struct latency_options *opt,
			 const char *guest)
{
	struct text text = {0}, title = {0};
	int status;

	text_printf(&title, "%s%s%s", r->tracer, guest ? " of " : "", guest ? guest : "");
	text_putc(&title, '\0');
	if (title.failed)
		text.failed = true;
	else
		render_latency_svg(r, opt->rows, title.buf, &text);
	status = output_write(&text, opt->svg);
	text_free(&title);
	return status;
}

static bool has_stack(const struct latency_report *r)
{
	for (size_t i = 0; i < r->nr; i++)
		if (r->row[i].stack)
			return true;
	return false;
}

/* What nobody expects of its name: few windows do not mean that no task has waited. */
static void say_scope(const struct latency_report *r)
{
	if (!strcmp(r->tracer, "wakeup"))
		fprintf(stderr,
			"hvtrace: wakeup waits for the most urgent task only, as the kernel's does: "
			"that is hardly ever an ordinary one; hvtrace wakeups counts the waits of all\n");
}

static int show_json(const struct latency_report *r, const struct latency_options *opt)
{
	const struct job_result result = {.report = *r};
	FILE *out = output_open(opt->out, NULL);

	if (out) {
		job_json(&result, opt->rows, out);
		if (!(ferror(out) | fclose(out)))
			return EXIT_OK;
	}
	fprintf(stderr, "hvtrace: cannot write %s: %s\n", opt->out ? opt->out : "stdout",
		strerror(errno));
	return EXIT_FAILED;
}

static int show(struct latency_report *r, const struct latency_options *opt, const char *guest)
{
	struct latency_view view = {.rows = opt->rows, .stacks = opt->stacks};
	char option[CONNECT_OPTION_LEN];
	struct text text = {0};
	int status = EXIT_OK;

	if (!strcmp(r->tracer, "none")) {
		connect_option(opt->guest, option);
		fprintf(stderr,
			"hvtrace: no latencies are counted; to do that: hvtrace set %scurrent_tracer "
			"irqsoff, hvtrace set %shvtrace/latency_enabled 1\n",
			option, option);
		return EXIT_FAILED;
	}
	say_scope(r);
	if (!r->nr) {
		fprintf(stderr, "hvtrace: %s has found nothing\n", r->tracer);
		return EXIT_FAILED;
	}
	latency_report_sort(r, opt->by);
	if (opt->svg)
		status = write_picture(r, opt, guest);
	/* The session was about to print a trace. */
	output_paint(opt->json ? PAINT_NOTHING : PAINT_WINDOWS);
	if (opt->json)
		return show_json(r, opt) == EXIT_OK ? status : EXIT_FAILED;
	view.blocks = opt->unicode;
	render_latency(r, &view, &text);
	if (opt->stacks && !has_stack(r))
		fprintf(stderr,
			"hvtrace: %s has no stacks: the guest's kernel has neither ORC tables nor "
			"frame pointers, or the trace is --lossless\n",
			r->tracer);
	return output_write(&text, opt->out) == EXIT_OK ? status : EXIT_FAILED;
}

static int show_text(const struct text *text, const struct latency_options *opt, const char *guest)
{
	struct latency_report r;
	unsigned int line;
	int status = EXIT_FAILED;
	int rc = text->failed ? -ENOMEM : latency_report_read(&r, text->buf, text->len, &line);

	if (rc == -EINVAL)
		fprintf(stderr, "hvtrace: line %u of " LATENCY_FILE " makes no sense\n", line);
	else if (rc)
		fprintf(stderr, "hvtrace: out of memory\n");
	else
		status = show(&r, opt, guest);
	if (!text->failed)
		latency_report_free(&r);
	return status;
}

/* --- a trace under way ------------------------------------------------------------------------ */

static int latency_live(const struct latency_options *opt)
{
	struct control_client *c = connect_to_trace(opt->guest, -1);
	struct text text = {0};
	int status = EXIT_FAILED;
	int rc;

	if (!c)
		return EXIT_FAILED;
	rc = control_read_all(c, LATENCY_FILE, &text);
	if (!rc)
		text.len--; /* the end of the string */
	control_client_free(c);
	if (rc)
		fprintf(stderr, "hvtrace: cannot read " LATENCY_FILE " of the trace: %s\n",
			control_strerror(rc));
	else
		status = show_text(&text, opt, opt->guest);
	text_free(&text);
	return status;
}

/* --- a guest that is traced for that ---------------------------------------------------------- */

/* It counts from the first window on; functions within them are of no use here. */
static int prepare(struct attach *a)
{
	int rc = instance_set_option(trace_top(a->s.trace), OUTPUT_FUNCTION_TRACE, false);

	if (!rc)
		rc = trace_keep_latencies(a->s.trace, true);
	if (rc)
		snprintf(a->s.err, sizeof(a->s.err), "latencies cannot be counted: %s",
			 strerror(-rc));
	return rc;
}

/* Files are opened when there is something to be written. */
static int confine(struct attach *a, const struct latency_options *opt)
{
	return opt->svg || opt->out ? 0 : session_confine(&a->s);
}

static int latency_attach(const struct latency_options *opt)
{
	struct session_options session = SESSION_OPTIONS_DEFAULT;
	struct attach a = {.target = &opt->target, .prepare = prepare};
	struct text text = {0};
	int status = EXIT_FAILED;

	session.tracer = opt->tracer ? opt->tracer : "irqsoff";
	session.limit_ms = opt->window_ms ? opt->window_ms : 5000;
	session.window_bytes = opt->window_bytes;
	session.unserved = true;
	session.summary = opt->summary;
	session.no_sandbox = opt->no_sandbox;
	if (session_init(&a.s, &session) || attach_machine(&a) || attach_new_trace(&a) ||
	    attach_begin(&a) || confine(&a, opt)) {
		status = session_give_up(&a.s);
	} else {
		session_run(&a.s, true);
		status = session_stop(&a.s);
		trace_print_latencies(a.s.trace, &text);
		if (show_text(&text, opt, attach_name(&a)) != EXIT_OK)
			status = EXIT_FAILED;
	}
	status = session_summarize(&a.s, status);
	text_free(&text);
	session_exit(&a.s);
	return status;
}

/* --- a file ----------------------------------------------------------------------------------- */

static int latency_file(const struct latency_options *opt)
{
	bool wakeups = opt->tracer && !strncmp(opt->tracer, "wakeup", 6);
	const struct job_command what = {
		.name = "latency",
		.job = wakeups ? &job_wakeups : &job_windows,
		.other = opt->tracer ? NULL : &job_wakeups,
		.title = "Latencies",
	};
	const struct job_options job = {
		.file = {.out = opt->out, .no_sandbox = opt->no_sandbox},
		.kind = opt->tracer,
		.sort = opt->sort,
		.svg = opt->svg,
		.rows = opt->rows,
		.json = opt->json,
		.stacks = opt->stacks,
	};

	return job_answer(&what, &job, &(struct recording){.path = opt->target.name});
}

/* --- options ---------------------------------------------------------------------------------- */

/* The tracers whose windows can be counted. */
static const char *latency_tracer(unsigned int n)
{
	const char *known;

	for (unsigned int i = 0; (known = session_tracer_name(i)); i++)
		if (trace_tracer_is_latency(known) && !n--)
			break;
	return known;
}

static int latency(struct latency_options *opt)
{
	bool own = opt->target.name, is_file = own && job_is_file(opt->target.name);

	latency_sort_parse(opt->sort, &opt->by);
	if (own && opt->guest)
		fprintf(stderr, "hvtrace: --guest is for a trace under way, not for a DOMAIN\n");
	else if (!own && (opt->tracer || opt->window_ms || opt->window_bytes || opt->no_sandbox ||
			  opt->target.kernel))
		fprintf(stderr,
			"hvtrace: --tracer, --for, --window, --window-memory, --no-sandbox and --kernel "
			"are for a DOMAIN that is not traced yet (hvtrace latency --help)\n");
	else if (is_file && (opt->window_ms || opt->window_bytes || opt->target.kernel))
		fprintf(stderr,
			"hvtrace: --for, --window, --window-memory and --kernel are for a DOMAIN, not for "
			"a FILE (hvtrace latency --help)\n");
	else
		return is_file ? latency_file(opt) : own ? latency_attach(opt) : latency_live(opt);
	return EXIT_USAGE;
}

int cmd_latency(int argc, char **argv)
{
	struct latency_options opt = {.sort = "max", .rows = 20};
	const struct option_row rows[] = {
		OPT_ONE_OF(latency_sort_name, 's', "sort", &opt.sort, "KEY",
			   "by " LATENCY_SORT_NAMES " (default: max)"),
		OPT_NUMBER('l', "limit", &opt.rows, 1, 1000, "N",
			   "show at most N rows (default: 20)"),
		OPT_FLAG(0, "stack", &opt.stacks,
			 "below each row the stack of its longest window, where there is one"),
		OPT_STRING(0, "svg", &opt.svg, "FILE", "draw these rows as a picture, too"),
		OPT_FLAG('j', "json", &opt.json, "for programs: one object of JSON"),
		OPT_STRING('o', "output", &opt.out, "FILE", "where it goes (default: stdout)"),
		CONNECT_OPTION_ROW(&opt.guest),
		OPT_ONE_OF(
			latency_tracer, 't', "tracer", &opt.tracer, "NAME",
			"of DOMAIN: irqsoff (default), preemptoff, preemptirqsoff, wakeup, wakeup_rt or wakeup_dl"),
		OPT_TIME(0, "window", &opt.window_ms, "TIME",
			 "how long to trace DOMAIN (5, 1.5s, 200ms, 2m; default: 5s)"),
		OPT_TIME(0, "for", &opt.window_ms, "TIME", "the same as --window"),
		OPT_SIZE_MB(0, "window-memory", &opt.window_bytes, TRACE_WINDOW_MIN,
			    TRACE_WINDOW_MAX, "MB",
			    "of DOMAIN: guest memory for records, as of hvtrace attach"),
		OPT_FLAG(0, "no-sandbox", &opt.no_sandbox,
			 "of DOMAIN: keep rights that tracing does not need"),
		OPT_STRING(0, "summary", &opt.summary, "FILE",
			   "of DOMAIN: write an object of JSON with what came of it"),
		ATTACH_OPTION_ROWS(&opt.target),
		OPT_COLOR,
		OPT_END,
	};
	int first = options_parse(argc, argv, rows, &latency_usage);

	/* Which opens files. */
	opt.unicode = output_is_utf8();

	if (first < 0)
		return first == OPTIONS_HELP ? EXIT_OK : EXIT_USAGE;
	if (argc - first > 1) {
		fprintf(stderr,
			"hvtrace: latency takes one domain, or one file (hvtrace latency --help)\n");
		return EXIT_USAGE;
	}
	opt.target.name = first < argc ? argv[first] : NULL;
	if (remote_is(opt.target.connect) && opt.target.name && !job_is_file(opt.target.name))
		return remote_print(&(struct remote_print){
			.command = "latency",
			.rows = rows,
			.connect = &opt.target.connect,
			.output = &opt.out,
			.file = &opt.svg,
			.summary = &opt.summary,
			.operands = argv + first,
			.nr_operands = argc - first,
			.paint = opt.json ? PAINT_NOTHING : PAINT_WINDOWS,
		});
	return latency(&opt);
}
