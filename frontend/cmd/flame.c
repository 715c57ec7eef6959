// SPDX-License-Identifier: GPL-2.0-or-later
/* flame.c - `hvtrace flame`: the calls of a trace as a flame graph. */
#include "frontend/cmd/command.h"
#include "frontend/cmd/source.h"
#include "frontend/lib/output.h"
#include "frontend/report/render.h"
#include "frontend/session/registry.h"

#include <string.h>
#include <unistd.h>

struct flame_options {
	struct report_options report;
	const char *by, *title, *out;
	uint64_t width;
	bool folded;
};

static const struct option_usage flame_usage = {
	"hvtrace flame [OPTION]... [FILE]",
	"Draws the calls that function_graph has recorded as a flame graph: an SVG picture that any\n"
	"browser shows, callers below what they call, each as wide as the time that it took. Of what is\n"
	"in the buffers of a trace under way, or of FILE, which hvtrace run or hvtrace attach has\n"
	"written with -t function_graph -o FILE. --by chooses what is measured:\n"
	"  cpu    time on a CPU (default where the trace tells when calls were: a trace under way, and\n"
	"         a FILE with the option funcgraph-abstime)\n"
	"  time   time from entry to return, sleep included (default otherwise)\n"
	"  calls  how many",
	"hvtrace flame -o guest.svg\n"
	"hvtrace flame --root x64_sys_call --no-idle -o calls.svg calls.txt\n"
	"hvtrace flame --folded | flamegraph.pl >guest.svg",
};

/* False: a line says why not. */
static bool choose_weight(const struct calltree *t, const struct flame_options *opt,
			  enum weight *by)
{
	const char *missing = NULL;

	if (!opt->by)
		*by = t->has_cpu ? WEIGHT_CPU : t->has_time ? WEIGHT_TIME : WEIGHT_CALLS;
	else if (*by == WEIGHT_CPU && !t->has_cpu)
		missing = "when calls were; --by time or calls";
	else if (*by == WEIGHT_TIME && !t->has_time)
		missing = "how long calls took; --by calls";
	if (missing)
		fprintf(stderr, "hvtrace: --by %s: the trace does not say %s can be had\n", opt->by,
			missing);
	return !missing;
}

/* "Kernel functions of guest, Linux 6.1.0": of a file of text it is not known what it is of. */
static const char *title_of(const struct calltree *t, const struct flame_options *opt, char *title,
			    size_t size)
{
	const char *what = opt->report.root ? opt->report.root : "Kernel functions";
	const char *guest = t->guest, *release = t->release;
	struct registry_guest g;

	if (opt->title)
		return opt->title;
	if (!opt->report.file && connect_describe(opt->report.guest, &g)) {
		guest = g.name;
		release = g.release;
	}
	if (!*guest)
		return what;
	snprintf(title, size, "%s of %s%s%s", what, guest, *release ? ", Linux " : "", release);
	return title;
}

static int draw(const struct calltree *t, const struct flame_options *opt, enum weight by)
{
	char title[512];
	const struct render_flame how = {
		.by = by,
		.title = title_of(t, opt, title, sizeof(title)),
		.width = (unsigned int)opt->width,
	};
	struct text text = {0};

	if (opt->folded)
		render_folded(t, by, &text);
	else
		render_flame(t, &how, &text);
	return output_write(&text, opt->out);
}

static int flame(const struct flame_options *opt, enum weight by)
{
	struct calltree *t = source_read(&opt->report);
	int status = EXIT_FAILED;

	if (t)
		t = source_select(t, &opt->report);
	if (t && choose_weight(t, opt, &by))
		status = draw(t, opt, by);
	calltree_free(t);
	return status;
}

static int flame_checked(const struct flame_options *opt)
{
	enum weight by = WEIGHT_TIME;

	if (!report_options_check(&opt->report))
		return EXIT_USAGE;
	if (opt->by)
		weight_parse(opt->by, &by);
	if (!opt->out && !opt->folded && isatty(STDOUT_FILENO)) {
		fprintf(stderr,
			"hvtrace: -o FILE says where the picture goes (hvtrace flame -o trace.svg)\n");
		return EXIT_USAGE;
	}
	return flame(opt, by);
}

int cmd_flame(int argc, char **argv)
{
	struct flame_options opt = {.width = 1200};
	const struct option_row rows[] = {
		OPT_STRING('o', "output", &opt.out, "FILE", "where to (default: standard output)"),
		OPT_ONE_OF(weight_name, 'b', "by", &opt.by, "WHAT",
			   "what widths are: cpu, time, calls"),
		OPT_FLAG('F', "folded", &opt.folded,
			 "no picture: a line for each stack, a;b;c N (times: nanoseconds)"),
		OPT_STRING_OF("traced-function", 'r', "root", &opt.report.root, "FUNCTION",
			      "only this function, or those that match, and what is called"),
		OPT_FLAG('T', "tasks", &opt.report.tasks, "tasks apart, below their functions"),
		OPT_FLAG('N', "names", &opt.report.names, "the same, tasks of one name together"),
		REPORT_OPTION_ROWS(&opt.report),
		OPT_STRING(0, "title", &opt.title, "TEXT", "above the picture"),
		OPT_NUMBER(0, "width", &opt.width, 200, 20000, "PIXELS", "(default: 1200)"),
		OPT_END,
	};
	int first = options_parse(argc, argv, rows, &flame_usage), status = EXIT_USAGE;

	if (first == OPTIONS_HELP) {
		status = EXIT_OK;
	} else if (first >= 0 && argc - first > 1) {
		fprintf(stderr, "hvtrace: flame takes one file (hvtrace flame --help)\n");
	} else if (first >= 0) {
		opt.report.file = first < argc ? argv[first] : NULL;
		status = flame_checked(&opt);
	}
	option_list_free(&opt.report.pids);
	return status;
}
