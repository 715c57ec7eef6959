// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test-output-graph.c - function_graph: prints again what Linux 6.1 printed, from entries that its
 * text and its raw pages tell, read as trace and as trace_pipe; and what no capture shows. Expected
 * texts of that follow kernel/trace/trace_functions_graph.c, 6.1.
 */
#include "tests/unit/graph-text.h"

#include <pthread.h>
#include <stdatomic.h>

#include "tracer/reader.h"
#include "tracer/ring-page.h"

#define GRAPH OUTPUT_GRAPH_DEFAULT

struct rings {
	struct ring *ring[GRAPH_CPUS];
	unsigned int nr;
};

static struct rings rings_new(unsigned int nr)
{
	struct rings r = {.nr = nr};

	for (unsigned int i = 0; i < nr; i++) {
		r.ring[i] = ring_new(1 << 20);
		assert_non_null(r.ring[i]);
	}
	return r;
}

static void rings_free(struct rings *r)
{
	for (unsigned int i = 0; i < r->nr; i++)
		ring_free(r->ring[i]);
}

static void rings_put(struct rings *r, unsigned int cpu, uint64_t ts, const void *data, size_t len)
{
	void *at = ring_reserve(r->ring[cpu], len, ts);

	assert_non_null(at);
	memcpy(at, data, len);
	ring_commit(r->ring[cpu]);
}

/* All there is, in reads of len bytes; terminated. */
static char *read_all(struct rings *r, const struct output_config *cfg, bool consume, size_t len)
{
	struct reader *reader = reader_open(r->ring, r->nr, READER_ALL_CPUS, consume, cfg);
	struct text text = {0};
	char *buf = malloc(len);
	ssize_t n;

	assert_non_null(reader);
	assert_non_null(buf);
	while ((n = reader_read(reader, buf, len)) > 0)
		text_add(&text, buf, (size_t)n);
	assert_int_equal(n, 0);
	text_putc(&text, '\0');
	free(buf);
	reader_close(reader);
	return text.buf;
}

static const char *behind_header(const char *text)
{
	while (*text == '#')
		text = next_line(text);
	return text;
}

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

static struct output_config graph_config(struct world *w, uint32_t options, uint32_t graph_options)
{
	struct output_config cfg = world_config(w, options, "function_graph");

	cfg.graph_options = graph_options;
	return cfg;
}

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

/* --- what no capture shows ---------------------------------------------------------------- */

enum { FOO = 0x1000, BAR = 0x2000, IRQ = 0x3000, MODULE = 0x4000, IRQ_END = 0x3100 };

struct scene {
	struct world *w;
	struct output_config cfg;
	struct rings rings;
	uint64_t ts;
	int32_t pid;
};

static struct scene scene_new(uint32_t options, uint32_t graph_options)
{
	struct scene s = {.w = world_new(), .rings = rings_new(GRAPH_CPUS), .pid = 7};

	world_add(s.w, FOO, 0x100, "foo");
	world_add(s.w, BAR, 0x100, "bar");
	world_add(s.w, IRQ, 0x100, "irq");
	world_add(s.w, MODULE, 0x100, "func");
	snprintf(s.w->sym[3].module, sizeof(s.w->sym[3].module), "ext4");
	world_note(s.w, 7, 7, "a-longer-name");
	s.cfg = graph_config(s.w, options, graph_options);
	s.cfg.irqentry_start = IRQ;
	s.cfg.irqentry_end = IRQ_END;
	return s;
}

static void scene_put(struct scene *s, const void *data, size_t len)
{
	rings_put(&s->rings, 0, s->ts += 1000, data, len);
}

static void enter(struct scene *s, uint64_t func, int depth)
{
	const struct trace_graph_entry e = {
		.ent = {.type = TRACE_GRAPH_ENT, .pid = s->pid},
		.func = func,
		.depth = depth,
	};

	scene_put(s, &e, sizeof(e));
}

static void leave(struct scene *s, uint64_t func, int depth, uint64_t ns)
{
	const struct trace_graph_exit e = {
		.ent = {.type = TRACE_GRAPH_RET, .pid = s->pid},
		.func = func,
		.depth = depth,
		.overrun = 5,
		.calltime = 1000,
		.rettime = 1000 + ns,
	};

	scene_put(s, &e, sizeof(e));
}

static void call(struct scene *s, uint64_t func, int depth)
{
	enter(s, func, depth);
	leave(s, func, depth, 500);
}

/* Read as trace, without its header, then as trace_pipe, which leaves the rings empty. */
static void scene_expect(struct scene *s, const char *want)
{
	char *got = read_all(&s->rings, &s->cfg, false, 4096);

	assert_text_equal(behind_header(got), want);
	free(got);
	got = read_all(&s->rings, &s->cfg, true, 70);
	assert_text_equal(got, want);
	free(got);
}

static void scene_free(struct scene *s)
{
	rings_free(&s->rings);
	world_free(s->w);
}

static void test_arrows(void **state)
{
	struct scene s = scene_new(OUTPUT_DEFAULT, GRAPH | OUTPUT_GRAPH_PROC);

	(void)state;
	enter(&s, FOO, 0);
	enter(&s, IRQ, 1);
	call(&s, BAR, 2);
	leave(&s, IRQ, 1, 12345);
	call(&s, IRQ + 1, 1); /* a leaf */
	call(&s, IRQ_END, 1); /* no interrupt any more */
	leave(&s, FOO, 0, 1234567890);
	scene_expect(&s, " 0)   a-longe-7    |               |  foo() {\n"
			 " 0)   a-longe-7    |   ==========> |\n"
			 " 0)   a-longe-7    |               |    irq() {\n"
			 " 0)   a-longe-7    |   0.500 us    |      bar();\n"
			 " 0)   a-longe-7    | + 12.345 us   |    }\n"
			 " 0)   a-longe-7    |   <========== |\n"
			 " 0)   a-longe-7    |   ==========> |\n"
			 " 0)   a-longe-7    |   0.500 us    |    irq();\n"
			 " 0)   a-longe-7    |   <========== |\n"
			 " 0)   a-longe-7    |   0.500 us    |    0x3100();\n"
			 " 0)   a-longe-7    | $ 1234567 us  |  }\n");
	s.cfg.graph_options = OUTPUT_GRAPH_IRQS;
	call(&s, IRQ, 0);
	scene_expect(&s, "==========>\nirq();\n<==========\n");
	s.cfg.options &= ~(uint32_t)OUTPUT_CONTEXT_INFO;
	s.cfg.graph_options = GRAPH;
	enter(&s, IRQ, 0);
	scene_expect(&s, "==========>\nirq() {\n");
	scene_free(&s);
}

/* funcgraph-irqs off: what interrupts do is not seen, as far as their ends can be told. */
static void test_no_irqs(void **state)
{
	struct scene s = scene_new(OUTPUT_DEFAULT, GRAPH & ~OUTPUT_GRAPH_IRQS);

	(void)state;
	enter(&s, FOO, 0);
	enter(&s, IRQ, 1);
	call(&s, BAR, 2);
	enter(&s, BAR, 2);
	leave(&s, BAR, 2, 1);
	leave(&s, IRQ, 1, 1);
	call(&s, IRQ, 1);
	call(&s, BAR, 1);
	/* The interrupt's own return is lost. */
	enter(&s, IRQ, 1);
	call(&s, BAR, 2);
	leave(&s, FOO, 0, 2);
	call(&s, BAR, 0);
	leave(&s, FOO, 0, 1500);
	scene_expect(&s, " 0)               |  foo() {\n"
			 " 0)   0.500 us    |    bar();\n"
			 " 0)   0.500 us    |  bar();\n"
			 " 0)   1.500 us    |  } /* foo */\n");
	scene_free(&s);
}

static void test_columns(void **state)
{
	struct scene s = scene_new(OUTPUT_DEFAULT, 0);

	(void)state;
	enter(&s, FOO, 0);
	call(&s, MODULE + 2, 1);
	call(&s, 0x77, 1);
	call(&s, 0, 1);
	leave(&s, FOO, 0, 20000);
	scene_expect(&s, "foo() {\n  func [ext4]();\n  0x77();\n  0x0();\n}\n");
	s.cfg.graph_options = OUTPUT_GRAPH_DURATION | OUTPUT_GRAPH_OVERRUN | OUTPUT_GRAPH_TAIL;
	enter(&s, FOO, 0);
	call(&s, BAR, 1);
	leave(&s, FOO, 0, 20000);
	scene_expect(&s, "              |  foo() {\n"
			 "  0.500 us    |    bar();\n"
			 "  20.000 us   |  } /* foo */\n"
			 " (Overruns: 5)\n");
	s.cfg.graph_options = GRAPH | OUTPUT_GRAPH_ABSTIME;
	s.cfg.cpus = 101;
	s.ts = UINT64_C(123456001123999);
	enter(&s, FOO, 0);
	scene_expect(&s, "123456.001124 |     0)               |  foo() {\n");
	scene_free(&s);
}

/* Seven digits, the dot aside; marks stand above their limits. */
static void test_durations(void **state)
{
	static const struct {
		uint64_t ns;
		const char *want;
	} cases[] = {
		{0, "  0.000 us    "},
		{9999, "  9.999 us    "},
		{10000, "  10.000 us   "},
		{10001, "+ 10.001 us   "},
		{999999, "! 999.999 us  "},
		{1000001, "# 1000.001 us "},
		{12345678, "* 12345.67 us "},
		{123456789, "@ 123456.7 us "},
		{1234567890, "$ 1234567 us  "},
		{12345678901, "$ 12345678 us "},
		{123456789012, "$ 123456789 us "},
		{UINT64_MAX, "$ 18446744073709551 us "},
	};
	struct scene s = scene_new(OUTPUT_DEFAULT, GRAPH);

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char want[64];

		enter(&s, FOO, 0);
		leave(&s, FOO, 0, cases[i].ns);
		snprintf(want, sizeof(want), " 0) %s|  foo();\n", cases[i].want);
		scene_expect(&s, want);
	}
	scene_free(&s);
}

static void put_stack(struct scene *s)
{
	struct {
		struct trace_stack_entry e;
		uint64_t caller[2];
	} TRACE_ENTRY_LAYOUT stack = {
		.e.ent = {.type = TRACE_STACK, .pid = s->pid},
		.caller = {FOO + 4, UINT64_MAX},
	};

	scene_put(s, &stack, sizeof(stack));
}

static void put_event(struct scene *s, uint16_t type)
{
	struct {
		struct trace_entry ent;
		uint64_t words[9];
	} TRACE_ENTRY_LAYOUT e = {.ent = {.type = type, .pid = s->pid}};

	scene_put(s, &e, sizeof(e));
}

/* Other events are comments in the call that they come in; stacks and calls are as always. */
static void test_comments(void **state)
{
	struct scene s = scene_new(OUTPUT_DEFAULT, GRAPH);

	(void)state;
	put_event(&s, TRACE_CTX);
	enter(&s, FOO, 0);
	put_event(&s, TRACE_BPUTS);
	enter(&s, BAR, 1);
	put_event(&s, TRACE_WAKE);
	put_stack(&s);
	leave(&s, BAR, 1, 700);
	put_event(&s, TRACE_RAW_DATA);
	put_event(&s, TRACE_FN);
	put_event(&s, TRACE_USER_STACK);
	put_event(&s, 314);
	leave(&s, FOO, 0, 900);
	scene_expect(
		&s,
		" 0)               |  /*        0:  0:R ==> [000]       0:  0:R <idle> */\n"
		" 0)               |  foo() {\n"
		" 0)               |  /* (0x0000000000000000) */\n"
		" 0)               |    bar() {\n"
		" 0)               |      /*        0:  0:R   + [000]       0:  0:R <idle> */\n"
		"   a-longer-name-7       [000] .....     0.000006: <stack trace>\n"
		" => foo\n"
		" 0)   0.700 us    |    }\n"
		" 0)               |  /* # 0 buf: 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00"
		" 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00"
		" 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 */\n"
		"   a-longer-name-7       [000] .....     0.000009: 0\n"
		" 0)               |  /* <user stack trace> */\n"
		" 0)               |  /*    a-longer-name-7       [000] .....     0.000011: Unknown type "
		"314\n"
		" 0)   0.900 us    |  }\n");
	scene_free(&s);
}

/* Depths that no kernel records, and CPUs that the trace does not have. */
static void test_odd_places(void **state)
{
	struct scene s = scene_new(OUTPUT_DEFAULT, GRAPH);
	struct trace_graph_entry e = {.ent.type = TRACE_GRAPH_ENT, .func = FOO};
	const struct ring_event ev = {.data = &e, .len = sizeof(e)};
	struct text text = {0};
	struct output o;
	char *got;

	(void)state;
	enter(&s, FOO, INT32_MIN);
	put_event(&s, TRACE_BPUTS);
	leave(&s, FOO, INT32_MIN, 1);
	enter(&s, FOO, INT32_MAX);
	leave(&s, BAR, INT32_MAX, 1);
	got = read_all(&s.rings, &s.cfg, true, 4096);
	assert_in_range(strlen(got), 4000, 5000);
	assert_non_null(strstr(got, "|  foo() {\n 0)               |  /* (0x"));
	free(got);
	output_init(&o, &s.cfg, &text);
	output_event(&o, 2, &ev, 0);
	e.ent.pid = 9;
	output_event(&o, 2, &ev, 0); /* without a line about tasks */
	text_putc(&text, '\0');
	assert_text_equal(text.buf, " 2)               |  foo() {\n 2)               |  foo() {\n");
	output_exit(&o);
	text_free(&text);
	scene_free(&s);
}

/* What is not a leaf: another task's return, another function's, and one behind a loss. */
static void test_not_leaves(void **state)
{
	struct trace_graph_entry e = {.ent = {.type = TRACE_GRAPH_ENT, .pid = 7}, .func = FOO};
	struct trace_graph_exit x = {.ent = {.type = TRACE_GRAPH_RET, .pid = 7}, .func = FOO};
	struct ring_event ev = {.data = &e, .len = sizeof(e)}, ret = {.data = &x, .len = sizeof(x)};
	struct scene s = scene_new(OUTPUT_DEFAULT, GRAPH);
	struct text text = {0};
	struct output o;

	(void)state;
	output_init(&o, &s.cfg, &text);
	assert_true(output_is_leaf(&o, &ev, &ret));
	ret.lost = 1;
	assert_false(output_is_leaf(&o, &ev, &ret));
	ret.lost = 0;
	ret.len -= 4;
	assert_false(output_is_leaf(&o, &ev, &ret));
	ret.len += 4;
	ev.len -= 4;
	assert_false(output_is_leaf(&o, &ev, &ret));
	output_exit(&o);

	enter(&s, FOO, 0);
	s.pid = 8;
	leave(&s, FOO, 0, 100);
	enter(&s, FOO, 0);
	leave(&s, BAR, 0, 100);
	enter(&s, FOO, 0);
	put_event(&s, TRACE_BPUTS);
	leave(&s, FOO, 0, 100);
	scene_expect(&s, " 0)               |  foo() {\n"
			 " ------------------------------------------\n"
			 " 0)   a-longe-7    =>    <...>-8    \n"
			 " ------------------------------------------\n"
			 "\n"
			 " 0)   0.100 us    |  }\n"
			 " 0)               |  foo() {\n"
			 " 0)   0.100 us    |  } /* bar */\n"
			 " 0)               |  foo() {\n"
			 " 0)               |  /* (0x0000000000000000) */\n"
			 " 0)   0.100 us    |  }\n");
	scene_free(&s);
}

/* Entries in a snapshot, printed while another tracer is the present one. */
static void test_other_tracer(void **state)
{
	struct scene s = scene_new(OUTPUT_DEFAULT, GRAPH);

	(void)state;
	s.cfg.tracer = "nop";
	enter(&s, FOO, 0);
	call(&s, BAR, 1);
	s.pid = 8;
	leave(&s, FOO, 0, 100);
	char *got = read_all(&s.rings, &s.cfg, false, 4096);

	assert_text_equal(
		behind_header(got),
		"   a-longer-name-7       [000] .....     0.000001:  0)               |  "
		"foo() {\n"
		"   a-longer-name-7       [000] .....     0.000002:  0)   0.500 us    |    "
		"bar();\n"
		"           <...>-8       [000] .....     0.000004:  0)   0.100 us    |  }\n");
	free(got);
	s.cfg.options |= OUTPUT_RAW;
	got = read_all(&s.rings, &s.cfg, false, 4096);
	assert_text_equal(behind_header(got), "7 0 1000 type: 11\n7 0 2000 type: 11\n"
					      "7 0 3000 type: 10\n8 0 4000 type: 10\n");
	free(got);
	scene_free(&s);
}

static void test_headers(void **state)
{
	struct scene s = scene_new(OUTPUT_DEFAULT, 0);
	char *got = read_all(&s.rings, &s.cfg, false, 4096);

	(void)state;
	assert_text_equal(got, "# tracer: function_graph\n#\n"
			       "#               FUNCTION CALLS\n#               |   |   |   |\n");
	free(got);
	s.cfg.graph_options = GRAPH & ~OUTPUT_GRAPH_CPU;
	got = read_all(&s.rings, &s.cfg, false, 4096);
	assert_text_equal(got, "# tracer: function_graph\n#\n"
			       "#  DURATION                  FUNCTION CALLS\n"
			       "#   |   |                     |   |   |   |\n");
	free(got);
	s.cfg.options |= OUTPUT_LATENCY_FORMAT; /* nothing when there is nothing */
	got = read_all(&s.rings, &s.cfg, false, 4096);
	assert_string_equal(got, "# tracer: function_graph\n#\n");
	free(got);
	s.cfg.options = OUTPUT_DEFAULT & ~OUTPUT_CONTEXT_INFO;
	got = read_all(&s.rings, &s.cfg, false, 4096);
	assert_string_equal(got, "# tracer: function_graph\n#\n");
	free(got);
	scene_free(&s);
}

/* --- reading in pieces -------------------------------------------------------------------- */

static ssize_t read_some(struct reader *r, size_t len, const char *want)
{
	char buf[256] = "";
	ssize_t n = reader_read(r, buf, len);

	assert_true(n >= 0 && (size_t)n <= len);
	assert_string_equal(buf, want);
	return n;
}

/* A trace_pipe knows where it is from read to read, and what did not fit comes next. */
static void test_pipe_pieces(void **state)
{
	struct scene s = scene_new(OUTPUT_DEFAULT, GRAPH);
	struct reader *r = reader_open(s.rings.ring, GRAPH_CPUS, READER_ALL_CPUS, true, &s.cfg);

	(void)state;
	enter(&s, FOO, 0);
	enter(&s, BAR, 1);
	read_some(r, 50, " 0)               |  foo() {\n");
	read_some(r, 50, " 0)               |    bar() {\n");
	read_some(r, 50, "");
	/* Its return came too late to make it a leaf. */
	leave(&s, BAR, 1, 1);
	call(&s, BAR, 1);
	leave(&s, FOO, 0, 1);
	read_some(r, 10, " 0)   0.00");
	read_some(r, 50, "1 us    |    }\n");
	read_some(r, 60, " 0)   0.500 us    |    bar();\n 0)   0.001 us    |  }\n");
	/* A change of tasks is of the line behind it. */
	s.pid = 8;
	call(&s, FOO, 0);
	call(&s, FOO, 0);
	read_some(r, 200,
		  " ------------------------------------------\n"
		  " 0)   a-longe-7    =>    <...>-8    \n"
		  " ------------------------------------------\n\n"
		  " 0)   0.500 us    |  foo();\n 0)   0.500 us    |  foo();\n");
	reader_close(r);
	scene_free(&s);
}

/* Options take effect at once; of a graph also latency-format. */
static void test_options(void **state)
{
	struct scene s = scene_new(OUTPUT_DEFAULT, GRAPH);
	struct reader *r = reader_open(s.rings.ring, GRAPH_CPUS, READER_ALL_CPUS, true, &s.cfg);

	(void)state;
	for (int i = 0; i < 4; i++)
		call(&s, FOO, 0);
	read_some(r, 30, " 0)   0.500 us    |  foo();\n");
	reader_set_options(r, OUTPUT_DEFAULT | OUTPUT_LATENCY_FORMAT, GRAPH);
	/* This one had been printed when the read before found that it does not fit. */
	read_some(r, 30, " 0)   0.500 us    |  foo();\n");
	read_some(r, 38, " 0)  ..... |   0.500 us    |  foo();\n");
	reader_set_options(r, OUTPUT_DEFAULT, OUTPUT_GRAPH_CPU);
	reader_close(r);
	scene_free(&s);
}

/* A snapshot has taken the rings away: what was printed of them comes first. */
static void test_other_rings(void **state)
{
	struct scene s = scene_new(OUTPUT_DEFAULT, GRAPH);
	struct rings others = rings_new(GRAPH_CPUS), mine = s.rings;
	struct reader *r = reader_open(mine.ring, GRAPH_CPUS, READER_ALL_CPUS, true, &s.cfg);

	(void)state;
	enter(&s, FOO, 0);
	enter(&s, BAR, 1);
	enter(&s, BAR, 2);
	read_some(r, 30, " 0)               |  foo() {\n");
	assert_int_equal(reader_switch(r, others.ring), 0);
	s.rings = others;
	leave(&s, BAR, 1, 1);
	s.pid = 8;
	leave(&s, FOO, 0, 1);
	read_some(r, 255,
		  " 0)               |    bar() {\n"
		  " 0)   0.001 us    |    }\n"
		  " ------------------------------------------\n"
		  " 0)   a-longe-7    =>    <...>-8    \n"
		  " ------------------------------------------\n\n"
		  " 0)   0.001 us    |  }\n");
	reader_close(r);
	rings_free(&others);
	s.rings = mine;
	scene_free(&s);
}

/* --- while they are written --------------------------------------------------------------- */

enum { LIVE_CALLS = 30000, LIVE_BASE = 0x100000 };

struct live {
	struct scene s;
	atomic_bool done;
	/* How often each call's entry, and its return, was read; by its number in the address. */
	_Atomic uint64_t entered[LIVE_CALLS], left;
};

static void *live_write(void *arg)
{
	struct live *live = arg;

	for (uint64_t i = 0; i < LIVE_CALLS; i++)
		call(&live->s, LIVE_BASE + i, 0);
	return NULL;
}

/* " 0)   0.500 us    |  0x100007();", or the two lines of it */
static void live_line(struct live *live, const char *line)
{
	const char *at = strstr(line, "|  ");
	uint64_t func;

	assert_non_null(at);
	if (at[3] != '}') {
		assert_int_equal(sscanf(at + 3, "0x%" SCNx64, &func), 1);
		assert_in_range(func, LIVE_BASE, LIVE_BASE + LIVE_CALLS - 1);
		atomic_fetch_add(&live->entered[func - LIVE_BASE], 1);
	}
	if (memcmp(next_line(at) - 3, " {\n", 3))
		atomic_fetch_add(&live->left, 1);
}

static void *live_read(void *arg)
{
	struct live *live = arg;
	struct reader *r =
		reader_open(live->s.rings.ring, GRAPH_CPUS, READER_ALL_CPUS, true, &live->s.cfg);
	char buf[4097];
	bool done;
	ssize_t n;

	assert_non_null(r);
	do {
		done = atomic_load(&live->done);
		n = reader_read(r, buf, sizeof(buf) - 1);
		assert_true(n >= 0);
		buf[n] = '\0';
		for (const char *line = buf; *line; line = next_line(line))
			live_line(live, line);
	} while (n || !done);
	reader_close(r);
	return NULL;
}

/* Two at once, which take returns away from each other: nothing is lost, or there twice. */
static void test_live(void **state)
{
	struct live *live = calloc(1, sizeof(*live));
	pthread_t writer, reader[2];

	(void)state;
	assert_non_null(live);
	live->s = scene_new(OUTPUT_DEFAULT, GRAPH);
	for (unsigned int i = 0; i < GRAPH_CPUS; i++)
		assert_int_equal(ring_resize(live->s.rings.ring[i], 4 << 20), 0);
	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&reader[i], NULL, live_read, live), 0);
	assert_int_equal(pthread_create(&writer, NULL, live_write, live), 0);
	pthread_join(writer, NULL);
	atomic_store(&live->done, true);
	for (int i = 0; i < 2; i++)
		pthread_join(reader[i], NULL);
	for (int i = 0; i < LIVE_CALLS; i++)
		assert_int_equal(live->entered[i], 1);
	assert_int_equal(live->left, LIVE_CALLS);
	scene_free(&live->s);
	free(live);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_again),	   cmocka_unit_test(test_from_pages),
		cmocka_unit_test(test_arrows),	   cmocka_unit_test(test_no_irqs),
		cmocka_unit_test(test_columns),	   cmocka_unit_test(test_durations),
		cmocka_unit_test(test_comments),   cmocka_unit_test(test_odd_places),
		cmocka_unit_test(test_not_leaves), cmocka_unit_test(test_other_tracer),
		cmocka_unit_test(test_headers),	   cmocka_unit_test(test_pipe_pieces),
		cmocka_unit_test(test_options),	   cmocka_unit_test(test_other_rings),
		cmocka_unit_test(test_live),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
