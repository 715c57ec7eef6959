// SPDX-License-Identifier: GPL-2.0-or-later
/* graph.c - `hvtrace graph`: the calls of a trace as one tree. */
#include "frontend/cmd/command.h"
#include "frontend/cmd/missing.h"
#include "frontend/cmd/source.h"
#include "frontend/lib/json.h"
#include "frontend/lib/output.h"
#include "frontend/report/duration.h"
#include "frontend/report/render.h"

#include <string.h>

struct graph_options {
	struct report_options report;
	const char *sort, *min, *callers, *out;
	uint64_t depth;
	bool json;
};

static const struct option_usage graph_usage = {
	"hvtrace graph [OPTION]... [FILE]",
	"Prints the calls that function_graph has recorded as one tree. Calls that were made the same\n"
	"way are one line: the time that they took in total, by themselves (SELF: without the functions\n"
	"that they call) and on a CPU, on average and at most, and how many there were. MAX is - where\n"
	"no call is in the trace from its beginning to its end. The calls are those in the buffers of a\n"
	"trace under way, which stay there, or those in FILE, which hvtrace run or hvtrace attach has\n"
	"written with -t function_graph -o FILE.",
	"hvtrace graph --root vfs_statx --min 2ms\n"
	"hvtrace graph --callers '_raw_spin_lock*' --depth 3\n"
	"hvtrace graph --tasks calls.txt",
};

/* "# 2,345 calls in 1.23 s, 4,567 events lost" */
static void put_summary(const struct calltree *t, struct text *out)
{
	char buf[DURATION_LEN], count[RENDER_COUNT_LEN];

	text_printf(out, "# %s calls", render_count(render_calls(t, CALLTREE_ROOT), count));
	if (t->until > t->from)
		text_printf(out, " in %s", duration_text(t->until - t->from, buf));
	if (t->cpus)
		text_printf(out, " on %u vCPU%s", t->cpus, t->cpus == 1 ? "" : "s");
	if (t->lost)
		text_printf(out, "; %s events before or between them are lost",
			    render_count(t->lost, count));
	text_puts(out, "\n");
}

static struct calltree *callers_of(struct calltree *t, const struct graph_options *opt)
{
	struct calltree *callers = select_callers(t, opt->callers);

	if (!callers) {
		fprintf(stderr, "hvtrace: out of memory\n");
	} else if (source_is_empty(callers)) {
		missing_say(&opt->report, t, opt->callers);
		calltree_free(callers);
		callers = NULL;
	}
	calltree_free(t);
	return callers;
}

struct shown {
	const struct calltree *t;
	const struct render_graph *how;
};

static void put_graph(struct json *j, void *arg)
{
	const struct shown *s = arg;

	render_graph_json(s->t, s->how, j);
}

static int graph(const struct graph_options *opt, const struct render_graph *how)
{
	struct calltree *t = source_read(&opt->report);
	struct text text = {0};

	if (t)
		t = source_select(t, &opt->report);
	if (t && !opt->json)
		put_summary(t, &text);
	if (t && opt->callers)
		t = callers_of(t, opt);
	if (!t) {
		text_free(&text);
		return EXIT_FAILED;
	}
	if (opt->json)
		json_to_text(put_graph, &(struct shown){t, how}, &text);
	else
		render_graph(t, how, &text);
	calltree_free(t);
	output_paint(opt->json ? PAINT_NOTHING : PAINT_CALLS);
	return output_write(&text, opt->out);
}

static int graph_checked(const struct graph_options *opt)
{
	struct render_graph how = {.depth = (unsigned int)opt->depth};

	if (!report_options_check(&opt->report))
		return EXIT_USAGE;
	order_parse(opt->sort, &how.order);
	if (opt->min && !duration_parse(opt->min, &how.min)) {
		fprintf(stderr,
			"hvtrace: --min %s: not a time (such as 500ns, 20us, 1.5ms; a mere "
			"number: microseconds)\n",
			opt->min);
		return EXIT_USAGE;
	}
	return graph(opt, &how);
}

int cmd_graph(int argc, char **argv)
{
	struct graph_options opt = {.sort = "total"};
	const struct option_row rows[] = {
		OPT_ONE_OF(order_name, 's', "sort", &opt.sort, "KEY",
			   "by " ORDER_NAMES " (default: total)"),
		OPT_NUMBER('d', "depth", &opt.depth, 1, CALLTREE_DEPTH, "N",
			   "show at most N levels of calls"),
		OPT_STRING('m', "min", &opt.min, "TIME",
			   "leave out what took less in total (500ns, 20us, 1.5ms; a number: us)"),
		OPT_STRING_OF("traced-function", 'r', "root", &opt.report.root, "FUNCTION",
			      "only this function, or those that match, and what is called"),
		OPT_STRING_OF("traced-function", 'c', "callers", &opt.callers, "FUNCTION",
			      "the other way round: who calls it, and who calls those"),
		OPT_FLAG('T', "tasks", &opt.report.tasks, "a tree for each task"),
		OPT_FLAG('N', "names", &opt.report.names, "a tree for all tasks of one name"),
		REPORT_OPTION_ROWS(&opt.report),
		OPT_STRING('o', "output", &opt.out, "FILE", "where to (default: standard output)"),
		OPT_FLAG(0, "json", &opt.json, "an object of JSON, with one for each function"),
		OPT_COLOR,
		OPT_END,
	};
	int first = options_parse(argc, argv, rows, &graph_usage), status = EXIT_USAGE;

	if (first == OPTIONS_HELP) {
		status = EXIT_OK;
	} else if (first >= 0 && argc - first > 1) {
		fprintf(stderr, "hvtrace: graph takes one file (hvtrace graph --help)\n");
	} else if (first >= 0) {
		opt.report.file = first < argc ? argv[first] : NULL;
		status = graph_checked(&opt);
	}
	option_list_free(&opt.report.pids);
	return status;
}
