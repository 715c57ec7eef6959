// SPDX-License-Identifier: GPL-2.0-or-later
/* test-offcpu.c - how long tasks are off the CPU, why, and where they left it. */
#include "tests/unit/jobs-world.h"

#include "frontend/report/render.h"

static void check_row(const struct job_result *r, const char *name, const char *why, uint64_t count,
		      uint64_t total)
{
	const struct latency_row *row = story_row(r, name, why);

	assert_int_equal(row->count, count);
	assert_int_equal(row->total, total);
}

static void test_reasons(void **state)
{
	static struct story s;
	const struct job_config cfg = {0}, by_reason = {.by = "reason"};
	struct job_result r;

	(void)state;
	for (int turn = 0; turn < 2; turn++) {
		s = (struct story){0};
		story_switch(&s, 0, 0, 10, 1, 20);
		story_switch(&s, 0, 1000, 20, 2, 10);	  /* 10 slept 1000 */
		story_switch(&s, 0, 1500, 10, 0x100, 20); /* 20 was blocked for 500 */
		story_switch(&s, 0, 1800, 20, 1, 10);	  /* 10 was preempted for 300 */
		story_switch(&s, 0, 2000, 10, 1, 20);
		story_switch(&s, 0, 2700, 20, 0x20, 10); /* 20 slept 200, and is dead */
		story_switch(&s, 0, 9000, 10, 1, 20);
		r = story_read(&s, &job_offcpu, turn ? &by_reason : &cfg);
		if (turn) {
			check_row(&r, "sleeping (S)", "", 3, 1900);
			check_row(&r, "blocked (D)", "", 1, 500);
			check_row(&r, "preempted", "", 1, 300);
		} else {
			check_row(&r, "task10-10", "sleeping (S)", 2, 1700);
			check_row(&r, "task10-10", "preempted", 1, 300);
			check_row(&r, "task20-20", "sleeping (S)", 1, 200);
			check_row(&r, "task20-20", "blocked (D)", 1, 500);
			assert_int_equal(r.report.nr, 4);
		}
		assert_int_equal(r.unbegun, 2);
		assert_int_equal(r.unended, 1);
		assert_null(r.stacks);
		job_result_free(&r);
	}
}

/* As lines of flamegraph.pl. */
static void check_stacks(struct story *s, const char *want)
{
	const struct job_config cfg = {0};
	struct job_result r = story_read(s, &job_offcpu, &cfg);
	struct text out = {0};

	assert_non_null(r.stacks);
	render_folded(r.stacks, WEIGHT_TIME, &out);
	text_putc(&out, '\0');
	assert_string_equal(out.buf, want);
	text_free(&out);
	job_result_free(&r);
}

static void test_stacks(void **state)
{
	static struct story s;

	(void)state;
	s = (struct story){0};
	story_switch(&s, 0, 0, 10, 1, 20);
	story_stack(&s, 0, 10, 10, 4, 1);
	story_switch(&s, 1, 20, 30, 2, 0);
	story_stack(&s, 1, 30, 30, 4, 2);
	story_stack(&s, 0, 40, 20, 5, 3); /* of another event, which is not here */
	story_switch(&s, 0, 1000, 20, 0, 10);
	story_switch(&s, 1, 5020, 0, 0, 30);
	story_switch(&s, 0, 6000, 10, 1, 20);
	check_stacks(&s, "task10;vfs_read;do_open;sleeping (S) 1000\n"
			 "task20;preempted 5000\n"
			 "task30;vfs_write;do_open;blocked (D) 5000\n");
}

static void graph(struct story *s, uint64_t at, int32_t pid, bool returns, unsigned int function,
		  int32_t depth)
{
	struct story_record r = {.type = returns ? MADE_EXIT : MADE_ENTRY, .pid = pid};

	r.init.func = MADE_FUNC(function);
	r.init.ret = depth;
	story_event(s, 0, at, &r);
}

/* Where function_graph is recorded, too, that is a stack, if there is no other. */
static void test_calls(void **state)
{
	static struct story s;

	(void)state;
	s = (struct story){0};
	graph(&s, 10, 10, false, 1, 0);
	graph(&s, 20, 10, false, 2, 1);
	graph(&s, 30, 10, true, 2, 1);
	graph(&s, 40, 10, false, 3, 1);
	graph(&s, 50, 10, false, 4, 70); /* deeper than anything is */
	story_switch(&s, 0, 1000, 10, 1, 20);
	graph(&s, 1010, 20, false, 5, 3); /* what is around it is not known */
	story_switch(&s, 0, 3000, 20, 1, 10);
	graph(&s, 3010, 10, true, 3, 1);
	graph(&s, 3020, 10, true, 1, 0);
	story_switch(&s, 0, 3500, 10, 1, 20);
	story_switch(&s, 0, 3600, 20, 1, 10);
	check_stacks(&s, "task10;sleeping (S) 100\n"
			 "task10;vfs_read;vfs_open;sleeping (S) 2000\n"
			 "task20;sleeping (S) 500\n");
}

static void test_pids(void **state)
{
	static struct story s;
	const int32_t pids[] = {20};
	const struct job_config cfg = {.pids = pids, .nr_pids = 1};
	struct job_result r;

	(void)state;
	s = (struct story){0};
	story_switch(&s, 0, 0, 10, 1, 20);
	story_switch(&s, 0, 1000, 20, 1, 10);
	story_switch(&s, 0, 3000, 10, 1, 20);
	r = story_read(&s, &job_offcpu, &cfg);
	assert_int_equal(r.report.nr, 1);
	check_row(&r, "task20-20", "sleeping (S)", 1, 2000);
	job_result_free(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reasons),
		cmocka_unit_test(test_stacks),
		cmocka_unit_test(test_calls),
		cmocka_unit_test(test_pids),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
