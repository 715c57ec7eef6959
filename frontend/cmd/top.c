// SPDX-License-Identifier: GPL-2.0-or-later
/* top.c - `hvtrace top`: what the guest's kernel is busy with, again and again. */
#include "frontend/cmd/command.h"
#include "frontend/cmd/source.h"
#include "frontend/lib/json.h"
#include "frontend/lib/output.h"
#include "frontend/report/render.h"
#include "frontend/report/screen.h"

#include <errno.h>
#include <time.h>
#include <unistd.h>

struct top_options {
	struct report_options report;
	const char *sort;
	uint64_t interval_ms, batch, rows;
	bool once, json;
};

struct top {
	const struct top_options *opt;
	enum order order;
	struct live *live;
	struct screen *screen; /* NULL: tables one after the other */
	uint64_t until;	       /* time of the latest event of the last table */
	uint64_t read_ns;      /* when that was read */
};

static const struct option_usage top_usage = {
	"hvtrace top [OPTION]... [FILE]",
	"Shows which functions a guest's kernel spends its time with, from the buffers of a trace with\n"
	"the tracer function_graph that is under way; nothing is taken out of them. A new table is\n"
	"drawn every second, until q or Ctrl-C, and covers the time since the one before: calls per\n"
	"second, the share of one vCPU, the time on a CPU, the time without (SELF) and with (TOTAL) the\n"
	"functions that are called, and the average.\n"
	"For FILE, as hvtrace graph takes it, it is one table of all of it.",
	"hvtrace top\n"
	"hvtrace top --once --rows 10 --sort calls\n"
	"hvtrace top --once --json | jq -r '.functions[0].function'\n"
	"hvtrace top calls.dat",
};

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* How much of the while is in the buffers: they may be too small for all of it. */
static double covered(const struct top *top, const struct calltree *t, double seconds)
{
	double recorded = t->until > t->from ? (double)(t->until - t->from) / 1e9 : 0;

	/* The guest's clock need not be as fast as the host's. */
	return t->from > top->until || recorded > seconds ? recorded : seconds;
}

/* 0 or -errno. */
static int show(struct top *top, const struct calltree *t, double seconds)
{
	struct calltree *functions = select_functions(t);
	struct render_top how = {
		.order = top->order,
		.guest = top->opt->report.guest,
		.seconds = seconds,
		.covered = covered(top, t, seconds),
		.rows = top->opt->rows ? (unsigned int)top->opt->rows + RENDER_TOP_HEAD : 0,
	};
	struct text text = {0};

	if (!functions)
		return -ENOMEM;
	if (top->screen)
		screen_size(&how.rows, &how.columns);
	if (top->opt->json)
		render_top_json(functions, &how, &(struct json){.out = stdout});
	else
		render_top(functions, &how, &text);
	calltree_free(functions);
	if (top->opt->json)
		return fflush(stdout) ? -EIO : 0;
	output_paint(PAINT_CALLS);
	if (!top->screen)
		return output_write(&text, NULL) == EXIT_OK ? 0 : -EIO;
	screen_draw(&text, RENDER_TOP_HEAD - 1);
	text_free(&text);
	return 0;
}

/* 0, -errno, or what has been said already. */
enum { TABLE_SAID = 1 };
static int table(struct top *top)
{
	uint64_t before = top->read_ns;
	struct calltree *t;
	int rc = live_read(top->live, top->until, &t);

	if (!rc && source_is_empty(t) && !live_has_calls(top->live, &top->opt->report)) {
		calltree_free(t);
		rc = TABLE_SAID;
	}
	if (rc)
		return rc;
	top->read_ns = now_ns();
	t = source_tasks(t, &top->opt->report);
	if (!t)
		return -ENOMEM;
	if (before)
		rc = show(top, t, (double)(top->read_ns - before) / 1e9);
	if (t->until > top->until)
		top->until = t->until;
	calltree_free(t);
	return rc;
}

static void pause_ms(uint64_t ms)
{
	const struct timespec ts = {(time_t)(ms / 1000), (long)(ms % 1000) * 1000000};

	nanosleep(&ts, NULL);
}

/* False: no more tables are wanted. */
static bool wait_next(struct top *top)
{
	if (top->screen)
		return screen_wait(top->screen, top->opt->interval_ms);
	pause_ms(top->opt->interval_ms);
	return true;
}

/* The first look only says where the first table begins. 0 or -errno. */
static int tables(struct top *top)
{
	uint64_t left = top->opt->once ? 1 : top->opt->batch;
	int rc = table(top);

	while (!rc && wait_next(top)) {
		rc = table(top);
		if (rc || (left && !--left))
			break;
		if (!top->screen && !top->opt->json)
			putchar('\n');
	}
	return rc;
}

static bool wants_screen(const struct top_options *opt)
{
	return !opt->once && !opt->batch && !opt->json && isatty(STDOUT_FILENO) &&
	       isatty(STDIN_FILENO);
}

/* One table of all that is in a file. */
static int top_of_file(const struct top_options *opt, enum order order)
{
	struct top top = {.opt = opt, .order = order};
	struct calltree *t = source_read(&opt->report);
	int rc;

	if (t)
		t = source_tasks(t, &opt->report);
	if (!t)
		return EXIT_FAILED;
	rc = show(&top, t, t->until > t->from ? (double)(t->until - t->from) / 1e9 : 0);
	calltree_free(t);
	if (rc == -ENOMEM)
		fprintf(stderr, "hvtrace: out of memory\n");
	return rc ? EXIT_FAILED : EXIT_OK;
}

static int top(const struct top_options *opt, enum order order)
{
	struct top top = {.opt = opt, .order = order};
	int rc;

	top.live = live_open(&opt->report);
	if (!top.live)
		return EXIT_FAILED;
	if (wants_screen(opt))
		top.screen = screen_open();
	rc = tables(&top);
	screen_close(top.screen);
	if (rc < 0)
		live_complain(top.live, rc);
	live_close(top.live);
	return rc ? EXIT_FAILED : EXIT_OK;
}

int cmd_top(int argc, char **argv)
{
	struct top_options opt = {.sort = "cpu", .interval_ms = 1000};
	const struct option_row rows[] = {
		OPT_TIME('i', "interval", &opt.interval_ms, "TIME",
			 "between tables (500ms, 2s; default: 1s)"),
		OPT_ONE_OF(order_name, 's', "sort", &opt.sort, "KEY",
			   "by " ORDER_NAMES " (default: cpu)"),
		OPT_FLAG('1', "once", &opt.once, "print one table and end"),
		OPT_NUMBER('n', "batch", &opt.batch, 1, UINT32_MAX, "N",
			   "print N tables, one after the other, and end"),
		OPT_NUMBER(0, "rows", &opt.rows, 1, UINT16_MAX, "N",
			   "rows of a table that is not drawn in a terminal (default: all)"),
		REPORT_OPTION_ROWS(&opt.report),
		OPT_FLAG(0, "json", &opt.json, "each table is an object of JSON"),
		OPT_COLOR,
		OPT_END,
	};
	int first = options_parse(argc, argv, rows, &top_usage), status = EXIT_USAGE;
	enum order order = ORDER_CPU;

	if (first == OPTIONS_HELP)
		status = EXIT_OK;
	else if (first >= 0 && argc - first > 1)
		fprintf(stderr, "hvtrace: top takes one file at most (hvtrace top --help)\n");
	else if (first >= 0 && report_options_check(&opt.report)) {
		order_parse(opt.sort, &order);
		opt.report.file = first < argc ? argv[first] : NULL;
		status = opt.report.file ? top_of_file(&opt, order) : top(&opt, order);
	}
	option_list_free(&opt.report.pids);
	return status;
}
