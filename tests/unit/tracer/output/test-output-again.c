// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test-output-again.c - prints again what Linux 6.1 printed: its text is understood, made into
 * entries as the kernel records them, and these must print the same bytes. Of graphs, those of
 * latencies with display-graph.
 */
#include "tests/unit/graph-rings.h"
#include "tests/unit/parsed-event.h"
#include "tests/unit/parsed-header.h"
#include "tracer/core/trace.h"
#include "tracer/tracers/tracers.h"

struct again {
	const char *file;
	uint32_t options;
	bool counts;	   /* times are bare counts */
	const char *model; /* of preemption, when it is not that of most captures */
};

#define RAW	(OUTPUT_DEFAULT | OUTPUT_RAW)
#define LATENCY (OUTPUT_DEFAULT | OUTPUT_LATENCY_FORMAT)
#define OFFSET	(OUTPUT_DEFAULT | OUTPUT_SYM_OFFSET)
#define TGID	(OUTPUT_DEFAULT | OUTPUT_RECORD_TGID)
#define MSG	(OUTPUT_DEFAULT | OUTPUT_PRINTK_MSG_ONLY)

static const struct again agains[] = {
	{.file = "trace-empty-nop", .options = OUTPUT_DEFAULT},
	{.file = "function-default", .options = OUTPUT_DEFAULT},
	{.file = "function-print-parent-off", .options = OUTPUT_DEFAULT & ~OUTPUT_PRINT_PARENT},
	{.file = "function-func-no-repeats", .options = OUTPUT_DEFAULT},
	{.file = "function-func-no-repeats-raw", .options = RAW},
	{.file = "sym-offset", .options = OFFSET},
	{.file = "sym-addr", .options = OUTPUT_DEFAULT | OUTPUT_SYM_ADDR},
	{.file = "sym-offset-and-sym-addr", .options = OFFSET | OUTPUT_SYM_ADDR},
	{.file = "function-latency-format", .options = LATENCY},
	{.file = "verbose-latency-format", .options = LATENCY | OUTPUT_VERBOSE},
	{.file = "verbose-nolatency-format", .options = OUTPUT_DEFAULT | OUTPUT_VERBOSE},
	{.file = "nocontext-info", .options = OUTPUT_DEFAULT & ~OUTPUT_CONTEXT_INFO},
	{.file = "noirq-info", .options = OUTPUT_DEFAULT & ~OUTPUT_IRQ_INFO},
	{.file = "nop-irq-timer-workqueue-events", .options = OUTPUT_DEFAULT},
	{.file = "record-tgid", .options = TGID},
	{.file = "record-tgid-noirq-info", .options = TGID & ~OUTPUT_IRQ_INFO},
	{.file = "trace_clock-uptime", .options = OUTPUT_DEFAULT, .counts = true},
	{.file = "raw", .options = RAW},
	{.file = "hex", .options = OUTPUT_DEFAULT | OUTPUT_HEX},
	{.file = "nop-trace_marker", .options = OUTPUT_DEFAULT},
	{.file = "printk-msg-only", .options = MSG},
	{.file = "printk-msg-only-nocontext-info", .options = MSG & ~OUTPUT_CONTEXT_INFO},
	{.file = "stacktrace-sym-offset", .options = OFFSET},
	{.file = "stacktrace-sym-offset-sym-addr", .options = OFFSET | OUTPUT_SYM_ADDR},
	{.file = "userstacktrace", .options = OUTPUT_DEFAULT},
	{.file = "userstacktrace-sym-userobj", .options = OUTPUT_DEFAULT | OUTPUT_SYM_USEROBJ},
	{.file = "irqsoff-nolatency-format", .options = OUTPUT_DEFAULT, .model = "preempt"},
	{.file = "irqsoff-function-trace-0", .options = LATENCY, .model = "preempt"},
	{.file = "irqsoff-verbose", .options = LATENCY | OUTPUT_VERBOSE, .model = "preempt"},
	{.file = "wakeup", .options = LATENCY, .model = "preempt"},
	{.file = "wakeup-function-trace-1", .options = LATENCY, .model = "preempt"},
	{.file = "wakeup_rt-function-trace-0", .options = LATENCY, .model = "preempt"},
	{.file = "wakeup_rt-function-trace-1", .options = LATENCY, .model = "preempt"},
	{.file = "wakeup_rt-with-sched-events", .options = LATENCY, .model = "preempt"},
	{.file = "wakeup_dl-function-trace-0", .options = LATENCY, .model = "preempt"},
	{.file = "wakeup_dl-function-trace-1", .options = LATENCY, .model = "preempt"},
	{.file = "hwlat", .options = OUTPUT_DEFAULT},
	{.file = "wakeup-empty", .options = LATENCY, .model = "preempt"},
	{.file = "trace_pipe-lost-events", .options = OUTPUT_DEFAULT},
};

/*
 * Verbose lines have a time that was rounded three ways, so microseconds are not enough to print it
 * again: take nanoseconds that fit, and the start of the buffer's time.
 */
static uint64_t verbose_times(const struct again *a, struct parsed *p, size_t nr)
{
	char file[128], *times, *at;
	uint64_t start;

	if (!(a->options & OUTPUT_VERBOSE && a->options & OUTPUT_LATENCY_FORMAT))
		return 0;
	snprintf(file, sizeof(file), "%s.times.txt", a->file);
	times = data_file(file, NULL);
	start = strtoull(times, &at, 10);
	for (size_t i = 0; i < nr; i++)
		p[i].ts = strtoull(at, &at, 10);
	free(times);
	return start;
}

static bool busybox_object(void *arg, uint32_t tgid, uint64_t ip, char file[OUTPUT_FILE_MAX],
			   uint64_t *start)
{
	(void)arg;
	(void)ip;
	strcpy(file, "/bin/busybox");
	*start = 0;
	return tgid;
}

static struct output_config again_config(struct world *w, const struct again *a,
					 const struct parsed_header *h)
{
	struct output_config cfg = world_config(w, a->options, h->tracer);

	cfg.ns = !a->counts;
	cfg.release = h->release;
	if (a->model)
		cfg.preempt_model = a->model;
	cfg.latency = h->latency;
	if (h->started[0]) {
		cfg.latency.started = parse_symbol(w, h->started);
		cfg.latency.ended = parse_symbol(w, h->ended);
	}
	cfg.user_object = busybox_object;
	return cfg;
}

static void check_again(const struct again *a)
{
	struct world *w = world_new();
	struct parsed_header h;
	struct parsed *p = calloc(256, sizeof(*p));
	struct text want = {0}, got = {0};
	struct output_config cfg;
	struct output o;
	char file[128], *text;
	const char *line;
	size_t nr = 0;

	assert_non_null(p);
	snprintf(file, sizeof(file), "%s.txt", a->file);
	text = data_file(file, NULL);
	parse_header(text, &h);
	for (line = text; *line == '#'; line = next_line(line))
		text_add(&want, line, (size_t)(next_line(line) - line));
	cfg = again_config(w, a, &h);
	while (*line)
		nr += parse_event(w, &line, a->options, a->counts, &p[nr], &want);
	cfg.time_start = verbose_times(a, p, nr);

	output_init(&o, &cfg, &got);
	if (h.tracer[0]) /* not of trace_pipe */
		output_header(&o, h.entries, h.written, !h.entries);
	for (size_t i = 0; i < nr; i++) {
		struct ring_event ev = {
			.ts = p[i].ts, .data = p[i].bytes, .len = p[i].len, .lost = p[i].lost};

		output_event(&o, p[i].cpu, &ev, i + 1 < nr ? p[i + 1].ts : p[i].ts);
	}
	text_putc(&want, '\0');
	text_putc(&got, '\0');
	assert_text_equal(got.buf, want.buf);
	output_exit(&o);
	text_free(&want);
	text_free(&got);
	free(text);
	free(p);
	world_free(w);
}

static void test_print_again(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(agains) / sizeof(agains[0]); i++) {
		print_message("# %s\n", agains[i].file);
		check_again(&agains[i]);
	}
}

/* --- graphs of latencies ---------------------------------------------------------------------- */

struct again_graph {
	const char *file;
	const struct tracer_ops *tracer;
};

static const struct again_graph graphs_again[] = {
	{"irqsoff-display-graph.txt", &irqsoff_tracer_ops},
	{"preemptoff-display-graph.txt", &preemptoff_tracer_ops},
	{"wakeup-display-graph.txt", &wakeup_tracer_ops},
	{"wakeup_rt-display-graph.txt", &wakeup_rt_tracer_ops},
};

static struct output_config latency_config(struct world *w, const struct again_graph *a,
					   const struct parsed_header *h)
{
	struct output_config cfg =
		world_config(w, OUTPUT_DEFAULT | OUTPUT_LATENCY_FORMAT, a->tracer->name);

	cfg.graph = true;
	cfg.graph_options = a->tracer->graph;
	cfg.time_start = GRAPH_TIME_START;
	cfg.release = h->release;
	cfg.preempt_model = "preempt";
	cfg.latency = h->latency;
	if (h->started[0]) {
		cfg.latency.started = graph_symbol(w, h->started, strlen(h->started));
		cfg.latency.ended = graph_symbol(w, h->ended, strlen(h->ended));
	}
	return cfg;
}

/* Of the entries the file may have only the first. */
static char *latency_print(const struct output_config *cfg, const struct parsed_header *h,
			   const struct graph_text *g)
{
	struct rings rings = rings_new(GRAPH_CPUS);
	struct text text = {0};
	struct output o;
	char *entries;

	output_init(&o, cfg, &text);
	output_header(&o, h->entries, h->written, false);
	output_exit(&o);
	for (size_t i = 0; i < g->nr; i++)
		rings_put(&rings, g->line[i].cpu, g->line[i].ts, g->line[i].bytes, g->line[i].len);
	entries = read_all(&rings, cfg, false, 1000);
	text_puts(&text, behind_header(entries));
	text_putc(&text, '\0');
	free(entries);
	rings_free(&rings);
	return text.buf;
}

static void check_graph_again(const struct again_graph *a)
{
	struct graph_text *g = calloc(1, sizeof(*g));
	char *text = data_file(a->file, NULL), *got;
	struct parsed_header h;
	struct output_config cfg;

	assert_non_null(g);
	parse_header(text, &h);
	assert_string_equal(h.tracer, a->tracer->name);
	g->w = world_new();
	g->options = OUTPUT_DEFAULT | OUTPUT_LATENCY_FORMAT;
	g->graph_options = a->tracer->graph;
	graph_parse(g, behind_header(text));
	assert_true(g->nr > 8);
	cfg = latency_config(g->w, a, &h);
	got = latency_print(&cfg, &h, g);
	assert_text_equal(got, text);
	free(got);
	world_free(g->w);
	free(text);
	free(g);
}

static void test_print_graph_again(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(graphs_again) / sizeof(graphs_again[0]); i++) {
		print_message("# %s\n", graphs_again[i].file);
		check_graph_again(&graphs_again[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_print_again),
		cmocka_unit_test(test_print_graph_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
