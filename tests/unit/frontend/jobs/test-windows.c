// SPDX-License-Identifier: GPL-2.0-or-later
/* test-windows.c - how long interrupts are off, by events and by a snapshot of irqsoff. */
#include "tests/unit/jobs-world.h"

static void irqs(struct story *s, unsigned int cpu, uint64_t at, bool off, int32_t offs)
{
	const struct story_record r = {.type = off ? STORY_IRQS_OFF : STORY_IRQS_ON, .offs = offs};

	story_event(s, cpu, at, &r);
}

static void test_events(void **state)
{
	static struct story s;
	const struct job_config cfg = {0}, preempt = {.kind = "preemptoff"};
	const struct latency_row *row;
	struct job_result r;

	(void)state;
	s = (struct story){0};
	irqs(&s, 0, 0, false, 0x400); /* has begun before */
	irqs(&s, 0, 1000, true, 0x110);
	irqs(&s, 1, 1100, true, 0x210);
	irqs(&s, 0, 1500, false, 0x310);
	irqs(&s, 1, 3100, false, 0x310);
	irqs(&s, 0, 4000, true, 0x110);
	irqs(&s, 0, 4100, false, 0x310);
	irqs(&s, 0, 5000, true, 0x110);
	r = story_read(&s, &job_windows, &cfg);
	assert_int_equal(r.report.nr, 2);
	row = story_row(&r, "vfs_read", "vfs_open");
	assert_int_equal(row->count, 2);
	assert_int_equal(row->total, 600);
	assert_int_equal(story_row(&r, "vfs_write", "vfs_open")->max, 2000);
	assert_int_equal(r.unbegun, 1);
	assert_int_equal(r.unended, 1);
	job_result_free(&r);
	for (unsigned int cpu = 0; cpu < STORY_CPUS; cpu++)
		s.nr[cpu] = 0;
	irqs(&s, 0, 1000, true, 0x110);
	irqs(&s, 0, 1500, false, 0x310);
	r = story_read(&s, &job_windows, &preempt);
	assert_int_equal(r.report.nr, 0);
	job_result_free(&r);
}

static void function(struct story *s, uint64_t at, uint64_t ip, bool irqs_off)
{
	struct story_record r = {.type = MADE_FUNCTION, .flags = irqs_off, .preempt_count = 1};

	r.init.func = ip;
	story_event(s, 0, at, &r);
}

static void test_snapshot(void **state)
{
	static struct story s;
	const struct job_config cfg = {0};
	struct job_result r;

	(void)state;
	/* One in which interrupts are on is none of irqsoff; one with an event behind it is none.
	 */
	for (int turn = 0; turn < 3; turn++) {
		s = (struct story){0};
		function(&s, 1000, MADE_FUNC(1), true);
		function(&s, 1500, MADE_FUNC(2), turn != 1);
		function(&s, 1900, MADE_FUNC(3), true);
		function(&s, 2000, UINT64_C(0x10), true); /* of no function: the tracer's own */
		story_stack(&s, 0, 2010, 10, 4, 1);
		if (turn == 2)
			function(&s, 2100, MADE_FUNC(3), true);
		r = story_read(&s, &job_windows, &cfg);
		if (turn == 2) {
			assert_int_equal(r.report.nr, 0);
		} else {
			assert_string_equal(r.report.tracer,
					    turn ? "preemptoff" : "preemptirqsoff");
			assert_int_equal(story_row(&r, "vfs_read", "vfs_open")->max, 1000);
			assert_string_equal(r.report.row[0].stack, "do_open\tvfs_read");
		}
		job_result_free(&r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_events),
		cmocka_unit_test(test_snapshot),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
