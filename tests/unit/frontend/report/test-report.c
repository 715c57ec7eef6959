// SPDX-License-Identifier: GPL-2.0-or-later
/* test-report.c - call trees: how events become one, and what is chosen of it. */
#include "tests/seed.h"
#include "tests/unit/report-feed.h"

/* --- events ------------------------------------------------------------------------------- */

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
	uint64_t seed = test_seed();

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
	struct calltree *one = select_tasks(t, &(struct select_tasks){pid, 1, false, true, false});

	(void)state;
	assert_folded(one, WEIGHT_CALLS, "ls-8;b 1\n");
	calltree_free(one);
	one = select_tasks(t, &(struct select_tasks){.nr = 0, .apart = true, .by_name = true});
	assert_int_equal(stats(one, "cat;a")->calls, stats(t, "cat-7;a")->calls);
	assert_int_equal(stats(one, "ls;b")->calls, 1);
	calltree_free(one);
	one = select_root(t, "b");
	assert_folded(one, WEIGHT_CALLS, "cat-7;b 1\ncat-7;b;b 1\nls-8;b 1\n");
	calltree_free(one);
	one = select_root(t, "[b]*");
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
	/* That b is called by a takes nothing from b. */
	callers = select_callers(t, "[ab]");
	assert_int_equal(stats(callers, "cat-7;b")->total, 50);
	assert_int_equal(stats(callers, "cat-7;b;a")->total, 50);
	assert_int_equal(stats(callers, "cat-7;a")->calls, 1);
	calltree_free(callers);
	calltree_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nesting),	    cmocka_unit_test(test_tasks_switch),
		cmocka_unit_test(test_migration),   cmocka_unit_test(test_begun_before),
		cmocka_unit_test(test_never_named), cmocka_unit_test(test_lost_returns),
		cmocka_unit_test(test_since),	    cmocka_unit_test(test_senseless_depths),
		cmocka_unit_test(test_random),	    cmocka_unit_test(test_functions),
		cmocka_unit_test(test_tasks),	    cmocka_unit_test(test_callers),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
