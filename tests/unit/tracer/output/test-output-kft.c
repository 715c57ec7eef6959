// SPDX-License-Identifier: GPL-2.0-or-later
/* test-output-kft.c - graphs of calls as the table of Kernel Function Trace. */
#include "tests/unit/output-world.h"

#include "tracer/output/kft.h"

#define HEADER                                                                                     \
	"Entry Delta PID Function Caller\n"                                                        \
	"-------- -------- -------- ---------------- ------------\n"

enum { FOO = 0x1000, BAR = 0x2000, LONG = 0x3000 };

struct scene {
	struct world *w;
	struct output_config cfg;
	struct kft *k;
	int32_t pid;
};

static int set_up(void **state)
{
	struct scene *s = calloc(1, sizeof(*s));

	assert_non_null(s);
	s->w = world_new();
	world_add(s->w, FOO, 0x100, "foo");
	world_add(s->w, BAR, 0x100, "bar");
	world_add(s->w, LONG, 0x100, "clockevents_register_notifier");
	s->cfg = world_config(s->w, OUTPUT_DEFAULT, "function_graph");
	s->k = kft_new();
	assert_non_null(s->k);
	s->pid = 7;
	*state = s;
	return 0;
}

static int tear_down(void **state)
{
	struct scene *s = *state;

	kft_free(s->k);
	world_free(s->w);
	free(s);
	return 0;
}

/* Times are microseconds. */
static void enter(struct scene *s, unsigned int cpu, uint64_t at, uint64_t func, int depth)
{
	const struct trace_graph_entry e = {
		.ent = {.type = TRACE_GRAPH_ENT, .pid = s->pid},
		.func = func,
		.depth = depth,
	};
	const struct ring_event ev = {.ts = at * 1000, .data = &e, .len = sizeof(e)};

	kft_event(s->k, cpu, &ev);
}

static void leave(struct scene *s, unsigned int cpu, uint64_t from, uint64_t to, uint64_t func,
		  int depth)
{
	const struct trace_graph_exit e = {
		.ent = {.type = TRACE_GRAPH_RET, .pid = s->pid},
		.func = func,
		.depth = depth,
		.calltime = from * 1000,
		.rettime = to * 1000,
	};
	const struct ring_event ev = {.ts = to * 1000, .data = &e, .len = sizeof(e)};

	kft_event(s->k, cpu, &ev);
}

static void expect(struct scene *s, const char *want)
{
	struct text got = {0};

	assert_true(kft_begin(s->k, &s->cfg, &got));
	while (kft_next(s->k, &s->cfg, &got))
		;
	text_putc(&got, '\0');
	assert_text_equal(got.buf, want);
	text_free(&got);
}

static void test_empty(void **state)
{
	expect(*state, HEADER);
}

/* In the order of the entries, whatever the returns' is. */
static void test_nested(void **state)
{
	struct scene *s = *state;

	enter(s, 1, 100, FOO, 0);
	enter(s, 1, 110, BAR, 1);
	enter(s, 1, 120, LONG, 2);
	leave(s, 1, 120, 125, LONG, 2);
	leave(s, 1, 110, 190, BAR, 1);
	enter(s, 1, 191, BAR, 1);
	leave(s, 1, 191, 192, BAR, 1);
	leave(s, 1, 100, 1200, FOO, 0);
	enter(s, 1, 1300, 0x99, 0);
	leave(s, 1, 1300, 1300, 0x99, 0);
	expect(s, HEADER "       0     1100      7.1 foo              -\n"
			 "      10       80      7.1 bar              foo\n"
			 "      20        5      7.1 clockevents_register_notifier bar\n"
			 "      91        1      7.1 bar              foo\n"
			 "    1200        0      7.1 0x99             -\n");
}

/* A task that moves is one; the idle task is one on each CPU. */
static void test_tasks(void **state)
{
	struct scene *s = *state;

	enter(s, 0, 1, FOO, 0);
	s->pid = 0;
	enter(s, 0, 2, FOO, 0);
	enter(s, 1, 3, BAR, 0);
	enter(s, 1, 4, LONG, 1);
	enter(s, 0, 5, LONG, 1);
	leave(s, 1, 4, 8, LONG, 1);
	leave(s, 0, 5, 7, LONG, 1);
	s->pid = 7;
	enter(s, 1, 9, BAR, 1);
	leave(s, 1, 1, 11, FOO, 0);
	expect(s, HEADER "       0       10      7.1 foo              -\n"
			 "       1       -1      0.0 foo              -\n"
			 "       2       -1      0.1 bar              -\n"
			 "       3        4      0.1 clockevents_register_notifier bar\n"
			 "       4        2      0.0 clockevents_register_notifier foo\n"
			 "       8       -1      7.1 bar              foo\n");
}

/* As with tracing_thresh: returns alone. */
static void test_returns(void **state)
{
	struct scene *s = *state;

	leave(s, 0, 120, 700, BAR, 1);
	leave(s, 0, 100, 800, FOO, 0);
	leave(s, 0, 900, 1000, BAR, 1); /* the one around it was lost */
	leave(s, 0, 900, 1000, FOO, 2); /* starts when the one around it does */
	expect(s, HEADER "       0      700      7.0 foo              -\n"
			 "      20      580      7.0 bar              foo\n"
			 "     800      100      7.0 bar              -\n"
			 "     800      100      7.0 foo              bar\n");
}

/* A return of another function than the one that was entered is of a call of its own. */
static void test_mismatch(void **state)
{
	struct scene *s = *state;

	enter(s, 0, 10, FOO, 0);
	leave(s, 0, 12, 20, BAR, 0);
	leave(s, 0, 5, 30, FOO, 0);
	expect(s, HEADER "       0       25      7.0 foo              -\n"
			 "       5       -1      7.0 foo              -\n"
			 "       7        8      7.0 bar              -\n");
}

static void test_odd(void **state)
{
	const struct trace_graph_exit e = {.ent.type = TRACE_GRAPH_RET};
	const struct ring_event other = {.data = "\1\0\0\0\0\0\0\0", .len = 8};
	const struct ring_event cut = {.data = &e, .len = sizeof(e) - 4};
	struct scene *s = *state;

	kft_event(s->k, 0, &other);
	kft_event(s->k, 0, &cut);
	enter(s, 0, 1, FOO, INT32_MIN);
	leave(s, 0, 1, 2, FOO, INT32_MIN);
	enter(s, 0, 3, BAR, INT32_MAX);
	s->cfg.ns = false; /* those that have not returned are left out */
	expect(s, HEADER "       0        1      7.0 foo              -\n");
}

/* Callers are known up to some depth; the rest is there all the same. */
static void test_deep(void **state)
{
	enum { DEEP = 300 };
	struct scene *s = *state;
	struct text got = {0};
	int lines = 0, callers = 0;

	for (int i = 0; i < DEEP; i++)
		enter(s, 0, (uint64_t)i, FOO, i);
	for (int i = DEEP; i--;)
		leave(s, 0, (uint64_t)i, 1000, FOO, i);
	assert_true(kft_begin(s->k, &s->cfg, &got));
	for (got.len = 0; kft_next(s->k, &s->cfg, &got); got.len = 0, lines++) {
		text_putc(&got, '\0');
		callers += !!strstr(got.buf, " foo\n");
	}
	assert_int_equal(callers, 255);
	assert_true(lines >= DEEP);
	text_free(&got);
}

static void test_many(void **state)
{
	enum { TASKS = 1000, CALLS = 5 };
	struct scene *s = *state;
	struct text got = {0};
	size_t lines = 0;

	for (int i = 0; i < CALLS; i++)
		for (s->pid = 1; s->pid <= TASKS; s->pid++)
			enter(s, 0, (uint64_t)i, i ? BAR : FOO, i);
	for (int i = CALLS; i--;)
		for (s->pid = 1; s->pid <= TASKS; s->pid++)
			leave(s, 0, (uint64_t)i, 10, i ? BAR : FOO, i);
	assert_true(kft_begin(s->k, &s->cfg, &got));
	for (; kft_next(s->k, &s->cfg, &got); lines++) {
		text_putc(&got, '\0');
		if (lines >= TASKS)
			assert_non_null(strstr(got.buf, lines < 2 * TASKS ? " foo\n" : " bar\n"));
		assert_null(strstr(got.buf, " -1 "));
		got.len = 0;
	}
	assert_int_equal(lines, TASKS * CALLS);
	text_free(&got);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_empty),    TEST(test_nested), TEST(test_tasks), TEST(test_returns),
		TEST(test_mismatch), TEST(test_odd),	TEST(test_deep),  TEST(test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
