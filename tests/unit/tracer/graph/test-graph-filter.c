// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test-graph-filter.c - which calls a graph has, of call trees written as "a(b(c)d)": a function is
 * a letter, an upper-case one is called in a hard interrupt.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <ctype.h>
#include <errno.h>

#include "tracer/graph/filter.h"
#include "tracer/lib/text.h"

#define TEXT UINT64_C(0x81000000)
enum { FUNCS = 26 };

struct scene {
	struct graph_filter f;
	struct funcs *funcs;
	uint64_t ns; /* that every call takes */
};

static int set_up(void **state)
{
	struct scene *s = calloc(1, sizeof(*s));
	struct func v[FUNCS] = {{0}};

	assert_non_null(s);
	for (uint64_t i = 0; i < FUNCS; i++)
		v[i] = (struct func){.addr = TEXT + 16 * i, .name = "f"};
	s->funcs = funcs_new(v, FUNCS);
	assert_non_null(s->funcs);
	*state = s;
	return 0;
}

static int tear_down(void **state)
{
	struct scene *s = *state;

	graph_filter_exit(&s->f);
	funcs_put(s->funcs);
	free(s);
	return 0;
}

static struct func_set *set_of(struct scene *s, const char *names)
{
	struct func_set *set = func_set_new(s->funcs);

	assert_non_null(set);
	for (; *names; names++)
		func_set_add(set, (uint32_t)(*names - 'a'));
	return set;
}

static void name(struct scene *s, const char *function, const char *notrace)
{
	struct func_set *a = set_of(s, function), *b = set_of(s, notrace);

	assert_int_equal(graph_filter_name(&s->f, a, b), 0);
	func_set_free(a);
	func_set_free(b);
}

/* Appends "b1" for an entry and "/b1" for a return at depth 1; gives what is behind the call. */
static const char *run(const struct scene *s, const char *tree, uint32_t depth, uint8_t outer,
		       struct text *got)
{
	while (*tree && *tree != ')') {
		char c = *tree++;
		uint64_t addr = TEXT + 16 * (uint64_t)(tolower((unsigned char)c) - 'a');
		uint8_t call =
			graph_filter_call(&s->f, addr, depth, isupper((unsigned char)c), outer);

		if (graph_filter_enters(&s->f, call))
			text_printf(got, "%c%u ", c, depth);
		if (*tree == '(')
			tree = run(s, tree + 1, call ? depth + 1 : depth, call ? call : outer,
				   got) +
			       1;
		if (graph_filter_leaves(&s->f, call, s->ns))
			text_printf(got, "/%c%u ", c, depth);
	}
	return tree;
}

static void expect(const struct scene *s, const char *tree, const char *want)
{
	struct text got = {0};

	run(s, tree, 0, 0, &got);
	text_putc(&got, '\0');
	assert_string_equal(got.buf, want);
	text_free(&got);
}

static void test_everything(void **state)
{
	struct scene *s = *state;

	expect(s, "a(b(C)d)e", "a0 b1 C2 /C2 /b1 d1 /d1 /a0 e0 /e0 ");
	assert_int_equal(graph_filter_name(&s->f, NULL, NULL), 0);
	expect(s, "a(b)", "a0 b1 /b1 /a0 ");
	assert_null(s->f.names);
}

static void test_functions(void **state)
{
	struct scene *s = *state;

	name(s, "bx", "");
	/* Depths count from the named function. */
	expect(s, "a(b(c(d))e)", "b0 c1 d2 /d2 /c1 /b0 ");
	expect(s, "a(b(b(c)x)e)x", "b0 b1 c2 /c2 /b1 x1 /x1 /b0 x0 /x0 ");
	expect(s, "a(c(d))", "");
	name(s, "abcdefghijklmnopqrstuvwxy", "");
	expect(s, "z(y(z))", "y0 z1 /z1 /y0 ");
	name(s, "", "");
	expect(s, "z", "z0 /z0 ");
}

/* Functions that are not there any more were asked for all the same. */
static void test_gone(void **state)
{
	struct scene *s = *state;
	struct func_set *set = set_of(s, "");

	set->gone = 1;
	assert_int_equal(graph_filter_name(&s->f, set, NULL), 0);
	expect(s, "a(b)", "");
	func_set_free(set);
}

static void test_notrace(void **state)
{
	struct scene *s = *state;

	name(s, "", "bc");
	expect(s, "a(b(c(d)e)f)", "a0 f1 /f1 /a0 ");
	expect(s, "b(a)a", "a0 /a0 ");
	name(s, "a", "b");
	expect(s, "b(a(c))a(c(b(a))a)", "a0 c1 /c1 a1 /a1 /a0 ");
	/* Named in both */
	name(s, "a", "a");
	expect(s, "a(b)b", "");
}

static void test_depth(void **state)
{
	struct scene *s = *state;

	s->f.max_depth = 2;
	expect(s, "a(b(c(d))e)", "a0 b1 /b1 e1 /e1 /a0 ");
	s->f.max_depth = 1;
	name(s, "b", "");
	expect(s, "a(b(c(d))b)", "b0 /b0 b0 /b0 ");
	/* What is not recorded for its depth names nothing: it is not open. */
	name(s, "bc", "");
	expect(s, "b(c(d))", "b0 /b0 ");
}

static void test_irqs(void **state)
{
	struct scene *s = *state;

	s->f.no_irqs = true;
	expect(s, "a(B(C)d)", "a0 d1 /d1 /a0 ");
	/* A named one is recorded when an interrupt calls it, but not what interrupts another. */
	name(s, "bd", "");
	expect(s, "a(B(C)d(E)D(E))", "B0 C1 /C1 /B0 d0 /d0 D0 E1 /E1 /D0 ");
}

static void test_threshold(void **state)
{
	struct scene *s = *state;

	s->f.thresh_ns = 100;
	s->ns = 99;
	expect(s, "a(b(c)d)", "");
	s->ns = 100;
	expect(s, "a(b(c)d)", "/c2 /b1 /d1 /a0 ");
	name(s, "", "b");
	expect(s, "a(b(c)d)", "/d1 /a0 ");
}

/* Thousands of names; each is found, and nothing else. */
static void test_many(void **state)
{
	enum { MANY = 40000 };
	struct func *v = calloc(MANY, sizeof(*v));
	struct graph_filter f = {0};
	struct func_set *set;
	struct funcs *funcs;

	(void)state;
	assert_non_null(v);
	for (uint64_t i = 0; i < MANY; i++)
		v[i] = (struct func){.addr = TEXT + 16 * i, .name = "f"};
	funcs = funcs_new(v, MANY);
	set = func_set_new(funcs);
	assert_non_null(set);
	for (uint32_t i = 0; i < MANY; i += 2)
		func_set_add(set, i);
	assert_int_equal(graph_filter_name(&f, set, NULL), 0);
	for (uint64_t i = 0; i < MANY; i++)
		assert_int_equal(graph_filter_call(&f, TEXT + 16 * i, 0, false, 0),
				 i % 2 ? 0 : GRAPH_CALL_SHOWN | GRAPH_CALL_NAMED);
	assert_int_equal(graph_filter_call(&f, TEXT + 8, 0, false, 0), 0);
	graph_filter_exit(&f);
	func_set_free(set);
	funcs_put(funcs);
	free(v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_everything, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_functions, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_gone, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_notrace, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_depth, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_irqs, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_threshold, set_up, tear_down),
		cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
