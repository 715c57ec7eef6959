// SPDX-License-Identifier: GPL-2.0-or-later
/* test-report-forms.c - call trees as they are printed and saved, and the words of reports. */
#include "tests/unit/report-feed.h"

#include "frontend/report/duration.h"
#include "frontend/report/subsystem.h"

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
	assert_string_equal(text.buf,
			    "hvtrace top - vm: 40,000,000 calls/s of 3 functions, 0.00 s\n\n"
			    "     HITS/s   %CPU       CPU      SELF     TOTAL       AVG  FUNCTION\n"
			    " 10,000,000   50.0     50 ns     50 ns    100 ns    100 ns  a\n"
			    " 20,000,000   45.0     45 ns     45 ns     50 ns     25 ns  b\n");
	text.len = 0;
	render_top(all, &(struct render_top){ORDER_CPU, NULL, 2, 1, 4, 22}, &text);
	text_putc(&text, '\0');
	assert_string_equal(text.buf, "hvtrace top: 4 calls/s\n\n     HITS/s   %CPU    \n"
				      "          1    0.0 ...\n");
	text_free(&text);
	calltree_free(all);
	calltree_free(t);
}

/* In a narrow terminal the name of the function is what there has to be room for. */
static void test_top_narrow(void **state)
{
	static const char name[] = "queued_spin_lock_slowpath_of_somebody";
	/* What they are sorted by is there. */
	static const struct {
		enum order order;
		size_t columns;
		const char *head, *row;
	} cases[] = {
		{ORDER_CPU, 80, "     HITS/s   %CPU       CPU      SELF     TOTAL  FUNCTION\n",
		 "          2      -         -   3.00 us   4.00 us  queued_spin_lock_slowpath_o...\n"},
		{ORDER_AVG, 80, "     HITS/s   %CPU       CPU      SELF       AVG  FUNCTION\n",
		 "          2      -         -   3.00 us   2.00 us  queued_spin_lock_slowpath_o...\n"},
		/* And nothing else, where there is even less room. */
		{ORDER_CPU, 40, "\n     HITS/s   %CPU       CPU  FUNCTION\n",
		 "          2      -         -  queued_...\n"},
		{ORDER_SELF, 50, "\n     HITS/s   %CPU      SELF  FUNCTION\n",
		 "          2      -   3.00 us  queued_spin_lock_...\n"},
		{ORDER_TOTAL, 59, "\n     HITS/s   %CPU     TOTAL  FUNCTION\n",
		 "          2      -   4.00 us  queued_spin_lock_slowpath_...\n"},
		{ORDER_AVG, 40, "\n     HITS/s   %CPU       AVG  FUNCTION\n",
		 "          2      -   2.00 us  queued_...\n"},
	};
	struct calltree *t = calltree_new();
	uint32_t all = calltree_child(t, CALLTREE_ROOT, calltree_name(t, "", 0));
	uint32_t node = calltree_child(t, all, calltree_name(t, name, strlen(name)));
	struct text text = {0};

	(void)state;
	t->node[node].st = (struct call_stats){.calls = 2, .total = 4000, .self = 3000};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		text.len = 0;
		render_top(t, &(struct render_top){cases[i].order, NULL, 1, 1, 5, cases[i].columns},
			   &text);
		text_putc(&text, '\0');
		assert_non_null(strstr(text.buf, cases[i].head));
		assert_non_null(strstr(text.buf, cases[i].row));
	}
	text_free(&text);
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
	/* What is in the middle of a word is no word. */
	assert_int_equal(subsystem_of("default_send_IPI_single_phys"), SUBSYSTEM_IRQ);
	assert_int_equal(subsystem_of("x2apic_send_IPI"), SUBSYSTEM_IRQ);
	assert_int_equal(subsystem_of("queued_read_lock_slowpath"), SUBSYSTEM_LOCK);
	assert_int_equal(subsystem_of("_raw_read_lock"), SUBSYSTEM_LOCK);
	assert_int_equal(subsystem_of("default_idle"), SUBSYSTEM_SCHED);
	assert_int_equal(subsystem_of("enqueue_task_fair"), SUBSYSTEM_SCHED);
	assert_int_equal(subsystem_of("kthread_should_stop"), SUBSYSTEM_SCHED);
	assert_int_equal(subsystem_of("filemap_fault"), SUBSYSTEM_MM);
	assert_int_equal(subsystem_of("__vm_munmap"), SUBSYSTEM_MM);
	assert_int_equal(subsystem_of("vfs_read"), SUBSYSTEM_FS);
	assert_int_equal(subsystem_of("0xffffffff81000000"), SUBSYSTEM_OTHER);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_graph),	   cmocka_unit_test(test_graph_order),
		cmocka_unit_test(test_top),	   cmocka_unit_test(test_top_narrow),
		cmocka_unit_test(test_saved),	   cmocka_unit_test(test_saved_damaged),
		cmocka_unit_test(test_flame),	   cmocka_unit_test(test_durations),
		cmocka_unit_test(test_subsystems),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
