// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test-output-latency-graph.c - the trace of a latency with display-graph: prints again what Linux
 * 6.1 printed, from entries that its text tells.
 */
#include "tests/unit/graph-rings.h"
#include "tests/unit/parsed-header.h"
#include "tracer/internal.h"

struct again {
	const char *file;
	const struct tracer_ops *tracer;
};

static const struct again agains[] = {
	{"irqsoff-display-graph.txt", &irqsoff_tracer_ops},
	{"preemptoff-display-graph.txt", &preemptoff_tracer_ops},
	{"wakeup-display-graph.txt", &wakeup_tracer_ops},
	{"wakeup_rt-display-graph.txt", &wakeup_rt_tracer_ops},
};

static struct output_config config(struct world *w, const struct again *a,
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
static char *print(const struct output_config *cfg, const struct parsed_header *h,
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

static void check_again(const struct again *a)
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
	cfg = config(g->w, a, &h);
	got = print(&cfg, &h, g);
	assert_text_equal(got, text);
	free(got);
	world_free(g->w);
	free(text);
	free(g);
}

static void prints_what_the_kernel_printed(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(agains) / sizeof(agains[0]); i++) {
		print_message("# %s\n", agains[i].file);
		check_again(&agains[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(prints_what_the_kernel_printed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
