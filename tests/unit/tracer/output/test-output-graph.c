// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test-output-graph.c - function_graph: prints again what Linux 6.1 printed, from entries that its
 * text and its raw pages tell, read as trace and as trace_pipe.
 */
#include "tests/unit/graph-rings.h"
#include "tracer/ring/page.h"

/* --- what the kernel printed -------------------------------------------------------------- */

struct again {
	const char *file;
	uint32_t options, graph_options;
};

#define PROC	(GRAPH | OUTPUT_GRAPH_PROC)
#define ABSTIME (GRAPH | OUTPUT_GRAPH_ABSTIME)
#define TAIL	(GRAPH | OUTPUT_GRAPH_TAIL)
#define PLAIN	(GRAPH & ~OUTPUT_GRAPH_OVERHEAD)

static const struct again agains[] = {
	{"default", OUTPUT_DEFAULT, GRAPH},
	{"tail-of-buffer", OUTPUT_DEFAULT, GRAPH},
	{"funcgraph-abstime", OUTPUT_DEFAULT, ABSTIME},
	{"funcgraph-irqs-off", OUTPUT_DEFAULT, GRAPH & ~OUTPUT_GRAPH_IRQS},
	{"funcgraph-proc", OUTPUT_DEFAULT, PROC},
	{"funcgraph-tail", OUTPUT_DEFAULT, TAIL},
	{"proc-abstime-tail", OUTPUT_DEFAULT, ABSTIME | OUTPUT_GRAPH_PROC | OUTPUT_GRAPH_TAIL},
	{"overhead-off-only", OUTPUT_DEFAULT, PLAIN},
	{"no-overhead", OUTPUT_DEFAULT, PLAIN},
	{"latency-format", OUTPUT_DEFAULT | OUTPUT_LATENCY_FORMAT, GRAPH},
	{"latency-format-proc-abstime", OUTPUT_DEFAULT | OUTPUT_LATENCY_FORMAT,
	 ABSTIME | OUTPUT_GRAPH_PROC},
	{"max_graph_depth-1", OUTPUT_DEFAULT, GRAPH},
	{"max_graph_depth-2", OUTPUT_DEFAULT, GRAPH},
	{"set_graph_function", OUTPUT_DEFAULT, GRAPH},
	{"set_graph_notrace", OUTPUT_DEFAULT, GRAPH},
	{"sleep-time-off-graph-time-off", OUTPUT_DEFAULT, GRAPH},
	{"tracing_thresh-100us", OUTPUT_DEFAULT, GRAPH},
	{"events-and-marker", OUTPUT_DEFAULT, GRAPH},
	{"option-raw", OUTPUT_DEFAULT | OUTPUT_RAW, GRAPH},
	{"option-hex", OUTPUT_DEFAULT | OUTPUT_HEX, GRAPH},
	{"option-verbose", OUTPUT_DEFAULT | OUTPUT_VERBOSE, GRAPH},
	{"option-sym-addr", OUTPUT_DEFAULT | OUTPUT_SYM_ADDR, GRAPH},
	{"option-sym-offset", OUTPUT_DEFAULT | OUTPUT_SYM_OFFSET, GRAPH},
};

static struct rings rings_of(const struct graph_text *g)
{
	struct rings r = rings_new(GRAPH_CPUS);

	for (size_t i = 0; i < g->nr; i++)
		rings_put(&r, g->line[i].cpu, g->line[i].ts, g->line[i].bytes, g->line[i].len);
	return r;
}

/* The header tells how many events there were, of which the file has only the first. */
static void check_header(const struct output_config *cfg, const char *text)
{
	const char *entries = strstr(text, ", #");
	uint64_t nr = entries ? strtoull(entries + 3, NULL, 10) : 1;
	struct text got = {0};
	struct output o;
	char *want;

	if (*text != '#')
		return;
	want = strndup(text, (size_t)(behind_header(text) - text));
	assert_non_null(want);
	output_init(&o, cfg, &got);
	output_header(&o, nr, nr, false);
	text_putc(&got, '\0');
	assert_text_equal(got.buf, want);
	output_exit(&o);
	text_free(&got);
	free(want);
}

static void check_again(const struct again *a)
{
	struct graph_text *g = calloc(1, sizeof(*g));
	struct output_config cfg;
	struct rings rings;
	char file[128], *text, *got;

	assert_non_null(g);
	snprintf(file, sizeof(file), "function_graph-%s.txt", a->file);
	text = data_file(file, NULL);
	g->w = world_new();
	g->options = a->options;
	g->graph_options = a->graph_options;
	graph_parse(g, behind_header(text));
	assert_true(g->nr > 8);
	cfg = graph_config(g->w, a->options, a->graph_options);
	check_header(&cfg, text);
	rings = rings_of(g);
	for (int consume = 0; consume < 2; consume++) {
		got = read_all(&rings, &cfg, consume, 1000);
		assert_text_equal(behind_header(got), behind_header(text));
		free(got);
	}
	rings_free(&rings);
	world_free(g->w);
	free(text);
	free(g);
}

static void test_again(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(agains) / sizeof(agains[0]); i++) {
		print_message("# %s\n", agains[i].file);
		check_again(&agains[i]);
	}
}

/* --- from raw pages ----------------------------------------------------------------------- */

static void put_pages(struct rings *rings, const char *pages, size_t len)
{
	for (size_t at = 0; at < len; at += RING_PAGE_SIZE) {
		struct ring_walk walk;
		struct ring_event ev;
		uint64_t lost;

		assert_int_equal(ring_walk_page(&walk, pages + at, &lost), 0);
		while (ring_walk_next(&walk, &ev) > 0)
			rings_put(rings, 0, ev.ts, ev.data, ev.len);
	}
}

static struct world *world_of_pages(void)
{
	char *tasks = data_file("function_graph-events.saved_cmdlines.txt", NULL);
	char *symbols = data_file("function_graph-events.symbols.txt", NULL);
	struct world *w = world_new();
	char name[64];
	uint64_t addr;
	int pid;

	for (const char *p = tasks; *p; p = next_line(p)) {
		assert_int_equal(sscanf(p, "%d %63s", &pid, name), 2);
		world_note(w, pid, pid, name);
	}
	for (const char *p = symbols; *p; p = next_line(p)) {
		assert_int_equal(sscanf(p, "%" SCNx64 " %63s", &addr, name), 2);
		world_add(w, addr, 16, name);
	}
	free(symbols);
	free(tasks);
	return w;
}

/* Some leaves are on two pages. The kernel's text goes on behind what is in these. */
static void test_from_pages(void **state)
{
	static const size_t sizes[] = {60, 333, 4096, 1 << 17};
	struct world *w = world_of_pages();
	struct rings rings = rings_new(1);
	struct output_config cfg = graph_config(w, OUTPUT_DEFAULT, GRAPH);
	char *text = data_file("function_graph-events.txt", NULL), *pages, *got;
	size_t len;

	(void)state;
	pages = data_file("function_graph-events.bin", &len);
	put_pages(&rings, pages, len);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		got = read_all(&rings, &cfg, false, sizes[i]);
		assert_in_range(strlen(got), 15000, strlen(text));
		text[strlen(got)] = '\0';
		assert_text_equal(got, text);
		free(got);
	}
	got = read_all(&rings, &cfg, true, 333);
	assert_text_equal(got, behind_header(text));
	free(got);
	free(pages);
	free(text);
	rings_free(&rings);
	world_free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_again),
		cmocka_unit_test(test_from_pages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
