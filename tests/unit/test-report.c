// SPDX-License-Identifier: GPL-2.0-or-later
/* test-report.c - call trees: how events become one, what is chosen of it, how it is printed. */
#include "tests/unit/report.h"

#include "frontend/report/duration.h"
#include "frontend/report/subsystem.h"

struct feed {
	struct calltree *t;
	struct calls *c;
	struct call_event at; /* cpu, pid, comm of what follows */
};

static struct feed feed_begin(uint64_t since)
{
	struct feed f = {.t = calltree_new()};

	assert_non_null(f.t);
	f.c = calls_new(f.t, since);
	assert_non_null(f.c);
	f.at = (struct call_event){.pid = 7, .comm = "cat"};
	return f;
}

static void event(struct feed *f, bool returns, int depth, const char *name, uint64_t ts,
		  uint64_t ns)
{
	struct call_event ev = f->at;

	ev.returns = returns;
	ev.depth = depth;
	ev.name = name ? calltree_name(f->t, name, strlen(name)) : CALLTREE_NONE;
	ev.ts = ts;
	ev.ns = ns;
	calls_event(f->c, &ev);
}

static void in(struct feed *f, int depth, const char *name, uint64_t ts)
{
	event(f, false, depth, name, ts, 0);
}

static void out(struct feed *f, int depth, const char *name, uint64_t ts, uint64_t ns)
{
	event(f, true, depth, name, ts, ns);
}

static struct calltree *feed_end(struct feed *f)
{
	calls_end(f->c);
	assert_sums(f->t, CALLTREE_ROOT);
	return f->t;
}

static const struct call_stats *stats(const struct calltree *t, const char *path)
{
	uint32_t node = CALLTREE_ROOT;
	char copy[256], *save, *word;

	strcpy(copy, path);
	for (word = strtok_r(copy, ";", &save); word; word = strtok_r(NULL, ";", &save)) {
		uint32_t c = t->node[node].child;

		while (c != CALLTREE_NONE && strcmp(calltree_name_of(t, c), word))
			c = t->node[c].next;
		assert_int_not_equal(c, CALLTREE_NONE);
		node = c;
	}
	return &t->node[node].st;
}

/* --- events ------------------------------------------------------------------------------- */

static struct calltree *two_calls(void)
{
	struct feed f = feed_begin(0);

	in(&f, 0, "a", 100);
	in(&f, 1, "b", 110);
	out(&f, 1, "b", 130, 20);
	in(&f, 1, "b", 140);
	in(&f, 2, "c", 145);
	out(&f, 2, "c", 150, 5);
	out(&f, 1, "b", 170, 30);
	out(&f, 0, "a", 200, 100);
	return feed_end(&f);
}

static void test_nesting(void **state)
{
	struct calltree *t = two_calls();
	const struct call_stats *b = stats(t, "cat-7;a;b");

	(void)state;
	assert_int_equal(b->calls, 2);
	assert_int_equal(b->total, 50);
	assert_int_equal(b->self, 45);
	assert_int_equal(b->max, 30);
	assert_int_equal(b->cpu, 45);
	assert_int_equal(t->from, 100);
	assert_int_equal(t->until, 200);
	t = merged(t);
	assert_folded(t, WEIGHT_TIME, "a 50\na;b 45\na;b;c 5\n");
	assert_folded(t, WEIGHT_CPU, "a 50\na;b 45\na;b;c 5\n");
	assert_folded(t, WEIGHT_CALLS, "a 1\na;b 2\na;b;c 1\n");
	calltree_free(t);
}

/* Who is switched from has its time go on, but not on the CPU. */
static void test_tasks_switch(void **state)
{
	struct feed f = feed_begin(0);
	struct calltree *t;

	(void)state;
	in(&f, 0, "schedule", 100);
	f.at.pid = 0;
	f.at.comm = "<idle>";
	out(&f, 0, "schedule_idle", 110, 5);
	in(&f, 0, "schedule_idle", 900);
	f.at.pid = 7;
	f.at.comm = "cat";
	out(&f, 0, "schedule", 920, 820);
	t = feed_end(&f);
	assert_int_equal(stats(t, "cat-7;schedule")->total, 820);
	assert_int_equal(stats(t, "cat-7;schedule")->cpu, 10);
	assert_int_equal(stats(t, "<idle>-0;schedule_idle")->cpu, 20);
	calltree_free(t);
}

static void test_migration(void **state)
{
	struct feed f = feed_begin(0);
	struct calltree *t;

	(void)state;
	in(&f, 0, "a", 100);
	f.at.cpu = 1;
	in(&f, 1, "b", 200);
	out(&f, 1, "b", 210, 10);
	out(&f, 0, "a", 300, 200);
	t = feed_end(&f);
	assert_int_equal(stats(t, "cat-7;a")->calls, 1);
	assert_int_equal(stats(t, "cat-7;a")->begun, 0);
	assert_int_equal(stats(t, "cat-7;a;b")->self, 10);
	calltree_free(t);
}

/* Its entry was overwritten, but what it has called finds its place; with the part that is seen. */
static void test_begun_before(void **state)
{
	struct feed f = feed_begin(0);
	struct calltree *t;

	(void)state;
	in(&f, 2, "c", 1000);
	out(&f, 2, "c", 1010, 10);
	out(&f, 1, "b", 1030, 500);
	out(&f, 0, "a", 1050, 900);
	t = feed_end(&f);
	assert_int_equal(stats(t, "cat-7;a")->begun, 1);
	assert_int_equal(stats(t, "cat-7;a")->total, 50);
	assert_int_equal(stats(t, "cat-7;a")->max, 0);
	assert_int_equal(stats(t, "cat-7;a;b")->total, 30);
	assert_int_equal(stats(t, "cat-7;a;b;c")->total, 10);
	assert_int_equal(stats(t, "cat-7;a;b")->cpu, 20);
	calltree_free(t);
}

static void test_never_named(void **state)
{
	struct feed f = feed_begin(0);
	struct calltree *t;

	(void)state;
	in(&f, 3, "d", 10);
	out(&f, 3, "d", 20, 10);
	out(&f, 2, NULL, 30, 25);
	in(&f, 3, "d", 40);
	t = merged(feed_end(&f));
	assert_folded(t, WEIGHT_CALLS, "d 2\n");
	calltree_free(t);
}

/* Returns are lost: deeper calls are over when there is one that is less deep. */
static void test_lost_returns(void **state)
{
	struct feed f = feed_begin(0);
	struct calltree *t;

	(void)state;
	in(&f, 0, "a", 100);
	in(&f, 1, "b", 110);
	in(&f, 2, "c", 120);
	in(&f, 1, "d", 150);
	out(&f, 1, "e", 180, 20); /* d's return and e's entry are missing */
	out(&f, 0, "a", 200, 100);
	t = feed_end(&f);
	assert_int_equal(stats(t, "cat-7;a;b")->total, 40);
	assert_int_equal(stats(t, "cat-7;a;b;c")->total, 30);
	assert_int_equal(stats(t, "cat-7;a;d")->total, 30);
	assert_int_equal(stats(t, "cat-7;a;e")->calls, 1);
	assert_int_equal(stats(t, "cat-7;a")->calls, 1);
	calltree_free(t);
}

static void test_since(void **state)
{
	struct feed f = feed_begin(1000);
	struct calltree *t;

	(void)state;
	in(&f, 0, "a", 900);
	in(&f, 1, "b", 950);
	out(&f, 1, "b", 1100, 150);
	out(&f, 0, "a", 1200, 300);
	t = feed_end(&f);
	assert_int_equal(t->from, 1000);
	assert_int_equal(stats(t, "cat-7;a")->total, 200);
	assert_int_equal(stats(t, "cat-7;a")->cpu, 100);
	assert_int_equal(stats(t, "cat-7;a;b")->cpu, 100);
	calltree_free(t);
}

static void test_senseless_depths(void **state)
{
	struct feed f = feed_begin(0);
	struct calltree *t;

	(void)state;
	in(&f, -1, "a", 1);
	out(&f, INT32_MAX, "a", 2, 1);
	in(&f, CALLTREE_DEPTH, "a", 3);
	f.at.cpu = UINT32_MAX;
	in(&f, 0, "a", 4);
	t = feed_end(&f);
	assert_int_equal(t->node[CALLTREE_ROOT].child, CALLTREE_NONE);
	calltree_free(t);
}

/* Whatever comes, sums agree. */
static void test_random(void **state)
{
	static const char *const names[] = {"a", "b", "c", "d", "e"};
	uint64_t seed = 1;

	(void)state;
	for (int round = 0; round < 50; round++) {
		struct feed f = feed_begin(0);
		uint64_t ts = 1000;

		for (int i = 0; i < 2000; i++) {
			bool returns;
			uint32_t r;

			seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
			r = (uint32_t)(seed >> 33);
			returns = r >> 3 & 1;
			f.at.cpu = r & 1;
			f.at.pid = (int)(r >> 1 & 3);
			ts += r >> 8 & 63;
			event(&f, returns, (int)(r >> 4 & 7),
			      returns && !(r >> 14 & 15) ? NULL : names[r % 5], ts, r >> 16 & 255);
		}
		calltree_free(feed_end(&f));
	}
}

/* --- selection ---------------------------------------------------------------------------- */

/* a calls b, which calls itself */
static struct calltree *recursive(void)
{
	struct feed f = feed_begin(0);

	in(&f, 0, "a", 100);
	in(&f, 1, "b", 110);
	in(&f, 2, "b", 120);
	out(&f, 2, "b", 140, 20);
	out(&f, 1, "b", 160, 50);
	out(&f, 0, "a", 200, 100);
	f.at.pid = 8;
	f.at.comm = "ls";
	in(&f, 0, "b", 300);
	out(&f, 0, "b", 310, 10);
	return feed_end(&f);
}

static void test_functions(void **state)
{
	struct calltree *t = recursive(), *all = select_functions(t);

	(void)state;
	assert_int_equal(stats(all, "")->calls, 0);
	assert_int_equal(render_calls(all, CALLTREE_ROOT), 4);
	for (uint32_t c = all->node[all->node[CALLTREE_ROOT].child].child; c != CALLTREE_NONE;
	     c = all->node[c].next)
		if (!strcmp(calltree_name_of(all, c), "b")) {
			assert_int_equal(all->node[c].st.calls, 3);
			assert_int_equal(all->node[c].st.total, 60);
			assert_int_equal(all->node[c].st.self, 60);
		}
	calltree_free(all);
	calltree_free(t);
}

static void test_tasks(void **state)
{
	const char *const pid[] = {"8"};
	struct calltree *t = recursive();
	struct calltree *one = select_tasks(t, &(struct select_tasks){pid, 1, false, true});

	(void)state;
	assert_folded(one, WEIGHT_CALLS, "ls-8;b 1\n");
	calltree_free(one);
	one = select_root(t, "b");
	assert_folded(one, WEIGHT_CALLS, "cat-7;b 1\ncat-7;b;b 1\nls-8;b 1\n");
	calltree_free(one);
	one = select_root(t, "nobody");
	assert_int_equal(one->node[CALLTREE_ROOT].child, CALLTREE_NONE);
	calltree_free(one);
	calltree_free(t);
}

static void test_callers(void **state)
{
	struct calltree *t = recursive(), *callers = select_callers(t, "b");

	(void)state;
	assert_int_equal(stats(callers, "cat-7;b")->calls, 2);
	assert_int_equal(stats(callers, "cat-7;b")->total, 50);
	assert_int_equal(stats(callers, "cat-7;b")->cpu, 50);
	assert_int_equal(stats(callers, "cat-7;b;a")->total, 50);
	assert_int_equal(stats(callers, "cat-7;b;b;a")->calls, 1);
	assert_int_equal(stats(callers, "ls-8;b")->calls, 1);
	calltree_free(callers);
	calltree_free(t);
}

/* --- forms -------------------------------------------------------------------------------- */

static void assert_graph(const struct calltree *t, const struct render_graph *how, const char *want)
{
	struct text text = {0};

	render_graph(t, how, &text);
	text_putc(&text, '\0');
	assert_string_equal(text.buf, want);
	text_free(&text);
}

static void test_graph(void **state)
{
	struct calltree *t = two_calls();

	(void)state;
	assert_graph(
		t, &(struct render_graph){.order = ORDER_TOTAL},
		"      TOTAL       SELF        CPU        AVG        MAX       CALLS  FUNCTION\n"
		"\n# cat-7: 4 calls, 100 ns\n"
		"     100 ns      50 ns     100 ns     100 ns     100 ns           1  a\n"
		"      50 ns      45 ns      50 ns      25 ns      30 ns           2  `-b\n"
		"       5 ns       5 ns       5 ns       5 ns       5 ns           1    `-c\n");
	t->has_cpu = t->has_time = false;
	t = merged(t);
	assert_graph(t, &(struct render_graph){.depth = 2},
		     "       CALLS  FUNCTION\n"
		     "           1  a\n"
		     "           2  `-b\n");
	assert_graph(t, &(struct render_graph){.min = 60},
		     "       CALLS  FUNCTION\n"
		     "           1  a\n");
	calltree_free(t);
}

static void test_graph_order(void **state)
{
	struct feed f = feed_begin(0);
	struct calltree *t;

	(void)state;
	for (uint64_t i = 0; i < 3; i++) {
		in(&f, 0, "often", 100 + i);
		out(&f, 0, "often", 101 + i, 1);
	}
	in(&f, 0, "long", 200);
	out(&f, 0, "long", 250, 50);
	t = feed_end(&f);
	t->has_cpu = t->has_time = false;
	t = merged(t);
	assert_graph(t, &(struct render_graph){.order = ORDER_CALLS},
		     "       CALLS  FUNCTION\n"
		     "           3  often\n"
		     "           1  long\n");
	assert_graph(t, &(struct render_graph){.order = ORDER_SELF},
		     "       CALLS  FUNCTION\n"
		     "           1  long\n"
		     "           3  often\n");
	calltree_free(t);
}

static void test_top(void **state)
{
	struct calltree *t = two_calls(), *all = select_functions(t);
	struct text text = {0};

	(void)state;
	render_top(all, &(struct render_top){ORDER_CPU, "vm", 1e-7, 1e-7, 5, 0}, &text);
	text_putc(&text, '\0');
	assert_string_equal(
		text.buf,
		"hvtrace top - vm: 40,000,000 calls/s of 3 functions, 0.00 s\n\n"
		"      HITS/s    %CPU        CPU       SELF      TOTAL        AVG  FUNCTION\n"
		"  10,000,000    50.0      50 ns      50 ns     100 ns     100 ns  a\n"
		"  20,000,000    45.0      45 ns      45 ns      50 ns      25 ns  b\n");
	text.len = 0;
	render_top(all, &(struct render_top){ORDER_CPU, NULL, 2, 1, 4, 22}, &text);
	text_putc(&text, '\0');
	assert_string_equal(text.buf, "hvtrace top: 4 calls/s\n\n      HITS/s    %CPU  \n"
				      "           1     0.0  \n");
	text_free(&text);
	calltree_free(all);
	calltree_free(t);
}

static void test_saved(void **state)
{
	struct calltree *t = recursive(), *again = calltree_new();
	struct text text = {0}, second = {0};
	unsigned int line;

	(void)state;
	t->lost = 3;
	t->cpus = 2;
	saved_print(t, &text);
	assert_true(saved_is(text.buf, text.len));
	assert_int_equal(saved_read(again, text.buf, text.len, &line), 0);
	assert_int_equal(again->lost, 3);
	assert_true(again->has_cpu);
	for (enum weight by = WEIGHT_CPU; by <= WEIGHT_CALLS; by++) {
		char *want = folded(t, by);

		assert_folded(again, by, want);
		free(want);
	}
	saved_print(again, &second);
	assert_int_equal(second.len, text.len);
	text_free(&text);
	text_free(&second);
	calltree_free(again);
	calltree_free(t);
}

static void test_saved_damaged(void **state)
{
	static const char *const bad[] = {
		"1 1 0 5 5 5 0 a\n",
		"0 t\n2 1 0 5 5 5 0 a\n",
		"0 t\n1 1 2 5 5 5 0 a\n",
		"0 t\n1 1 0 5\n",
		"0 t\n1 1 0 5 6 5 0 a\n",
		"0 t",
		"0 \n",
		"0 t\n1 -1 0 5 5 5 0 a\n",
		"x\n",
		"4000000000 t\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct calltree *t = calltree_new();
		unsigned int line;

		assert_int_not_equal(saved_read(t, bad[i], strlen(bad[i]), &line), 0);
		calltree_free(t);
	}
}

static void test_flame(void **state)
{
	struct calltree *t = two_calls();
	struct text text = {0};

	(void)state;
	t = merged(t);
	render_flame(t, &(struct render_flame){WEIGHT_TIME, "a < b & \"c\"\n", 424}, &text);
	text_putc(&text, '\0');
	assert_non_null(strstr(text.buf, "a &lt; b &amp; &quot;c&quot;?"));
	/* a: all 400 pixels, at the bottom of three rows; b: half of it; c: a twentieth */
	assert_non_null(strstr(text.buf, "<title>a\n100 ns, 100.00 %\nself: 50 ns\n1 call</title>"
					 "<rect x=\"12.0\" y=\"94\" width=\"399.5\""));
	assert_non_null(strstr(text.buf, "<title>b\n50 ns, 50.00 %\nself: 45 ns\n2 calls</title>"
					 "<rect x=\"12.0\" y=\"76\" width=\"199.5\""));
	assert_non_null(strstr(text.buf, "<title>c\n5 ns, 5.00 %\n1 call</title>"
					 "<rect x=\"12.0\" y=\"58\" width=\"19.5\""));
	text_free(&text);
	calltree_free(t);
}

/* --- words -------------------------------------------------------------------------------- */

static void test_durations(void **state)
{
	static const struct {
		uint64_t ns;
		const char *text;
	} print[] = {{0, "0 ns"},
		     {999, "999 ns"},
		     {1000, "1.00 us"},
		     {999994, "999.99 us"},
		     {999996, "1.00 ms"},
		     {12345678, "12.35 ms"},
		     {UINT64_C(90000000000), "90.00 s"}};
	uint64_t ns;

	(void)state;
	for (size_t i = 0; i < sizeof(print) / sizeof(print[0]); i++) {
		char buf[DURATION_LEN];

		assert_string_equal(duration_text(print[i].ns, buf), print[i].text);
	}
	assert_true(duration_parse("80ns", &ns) && ns == 80);
	assert_true(duration_parse("12.5us", &ns) && ns == 12500);
	assert_true(duration_parse("7", &ns) && ns == 7000);
	assert_true(duration_parse("2s", &ns) && ns == 2000000000);
	assert_false(duration_parse("", &ns) || duration_parse("-1", &ns) ||
		     duration_parse("1h", &ns) || duration_parse("1e30s", &ns) ||
		     duration_parse("0x10", &ns) || duration_parse("5usx", &ns));
}

static void test_subsystems(void **state)
{
	(void)state;
	assert_int_equal(subsystem_of("__x64_sys_newstat"), SUBSYSTEM_ENTRY);
	assert_int_equal(subsystem_of("vfs_statx"), SUBSYSTEM_FS);
	assert_int_equal(subsystem_of("_raw_spin_lock_irq"), SUBSYSTEM_LOCK);
	assert_int_equal(subsystem_of("handle_softirqs"), SUBSYSTEM_IRQ);
	assert_int_equal(subsystem_of("schedule"), SUBSYSTEM_SCHED);
	assert_int_equal(subsystem_of("__alloc_pages"), SUBSYSTEM_MM);
	assert_int_equal(subsystem_of("tcp_sendmsg"), SUBSYSTEM_NET);
	assert_int_equal(subsystem_of("0xffffffff81000000"), SUBSYSTEM_OTHER);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nesting),	      cmocka_unit_test(test_tasks_switch),
		cmocka_unit_test(test_migration),     cmocka_unit_test(test_begun_before),
		cmocka_unit_test(test_never_named),   cmocka_unit_test(test_lost_returns),
		cmocka_unit_test(test_since),	      cmocka_unit_test(test_senseless_depths),
		cmocka_unit_test(test_random),	      cmocka_unit_test(test_functions),
		cmocka_unit_test(test_tasks),	      cmocka_unit_test(test_callers),
		cmocka_unit_test(test_graph),	      cmocka_unit_test(test_graph_order),
		cmocka_unit_test(test_top),	      cmocka_unit_test(test_saved),
		cmocka_unit_test(test_saved_damaged), cmocka_unit_test(test_flame),
		cmocka_unit_test(test_durations),     cmocka_unit_test(test_subsystems),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
