// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test-output-graph-lines.c - function_graph: what no capture of a kernel's shows. Expected texts
 * follow kernel/trace/trace_functions_graph.c, 6.1.
 */
#include "tests/unit/graph-scene.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_arrows),	   cmocka_unit_test(test_no_irqs),
		cmocka_unit_test(test_columns),	   cmocka_unit_test(test_durations),
		cmocka_unit_test(test_comments),   cmocka_unit_test(test_odd_places),
		cmocka_unit_test(test_not_leaves), cmocka_unit_test(test_other_tracer),
		cmocka_unit_test(test_headers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
