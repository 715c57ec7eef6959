// SPDX-License-Identifier: GPL-2.0-or-later
/* test-wakeups.c - how long tasks wait for a vCPU, and who had it meanwhile. */
#include "tests/unit/jobs-world.h"

static void check_row(const struct job_result *r, const char *name, uint64_t count, uint64_t total,
		      uint64_t max)
{
	const struct latency_row *row = story_row(r, name, "");

	assert_int_equal(row->count, count);
	assert_int_equal(row->total, total);
	assert_int_equal(row->max, max);
}

/* 10 is woken while 20 runs, which loses the vCPU to it, and then sleeps. */
static void woken_and_preempted(struct story *s)
{
	*s = (struct story){0};
	story_switch(s, 0, 0, 0, 0, 20);
	story_woken(s, 1, 1000, STORY_WAKING, 10);
	story_woken(s, 1, 1200, STORY_WAKEUP, 10); /* the same wakeup */
	story_switch(s, 0, 3000, 20, 0x100, 10);
	story_switch(s, 0, 3500, 10, 1, 20);
	story_switch(s, 0, 9000, 20, 1, 0);
	story_switch(s, 0, 9500, 0, 0, 20); /* nobody has seen it woken */
}

static void test_waits(void **state)
{
	static struct story s;
	const struct job_config cfg = {0};
	struct job_result r;

	(void)state;
	woken_and_preempted(&s);
	r = story_read(&s, &job_wakeups, &cfg);
	assert_int_equal(r.report.nr, 2);
	check_row(&r, "task10-10", 1, 2000, 2000);
	check_row(&r, "task20-20", 1, 500, 500);
	assert_int_equal(r.unbegun, 2);
	assert_int_equal(r.nr_worst, 0);
	job_result_free(&r);
}

static void test_by(void **state)
{
	static struct story s;
	const int32_t pids[] = {10};
	const struct job_config cpu = {.by = "cpu"},
				prio = {.by = "prio", .pids = pids, .nr_pids = 1};
	struct job_result r;

	(void)state;
	woken_and_preempted(&s);
	r = story_read(&s, &job_wakeups, &cpu);
	check_row(&r, "CPU 0", 2, 2500, 2000);
	job_result_free(&r);
	woken_and_preempted(&s);
	r = story_read(&s, &job_wakeups, &prio);
	check_row(&r, "prio 120", 1, 2000, 2000);
	job_result_free(&r);
}

static void test_worst(void **state)
{
	static struct story s;
	const struct job_config cfg = {.worst = 1};
	struct job_result r;

	(void)state;
	s = (struct story){0};
	story_switch(&s, 0, 0, 0, 0, 20);
	story_woken(&s, 1, 1000, STORY_WAKEUP, 10);
	story_switch(&s, 0, 2000, 20, 0, 30);
	story_switch(&s, 0, 6000, 30, 1, 0);
	story_switch(&s, 0, 6500, 0, 0, 10);
	r = story_read(&s, &job_wakeups, &cfg);
	assert_int_equal(r.nr_worst, 1);
	assert_int_equal(r.worst[0].task.pid, 10);
	assert_int_equal(r.worst[0].from, MADE_T0 + 1000);
	assert_int_equal(r.worst[0].ns, 5500);
	assert_false(r.worst[0].preempted);
	assert_int_equal(r.worst[0].who[0].pid, 30);
	assert_int_equal(r.worst[0].who[0].ns, 4000);
	assert_int_equal(r.worst[0].who[1].pid, 20);
	assert_int_equal(r.worst[0].who[1].ns, 1000);
	assert_int_equal(r.worst[0].who[2].pid, 0);
	assert_int_equal(r.worst[0].who[2].ns, 500);
	job_result_free(&r);
}

/* Of many the longest are kept, in their order. */
static void test_many_worst(void **state)
{
	static struct story s;
	const struct job_config cfg = {.worst = 3};
	static const uint64_t waits[] = {300, 100, 700, 200, 600, 500, 400};
	struct job_result r;
	uint64_t now = 0;

	(void)state;
	s = (struct story){0};
	for (size_t i = 0; i < sizeof(waits) / sizeof(*waits); i++) {
		int32_t pid = (int32_t)i + 10;

		story_woken(&s, 0, now, STORY_WAKEUP, pid);
		story_switch(&s, 0, now + waits[i], 0, 0, pid);
		story_switch(&s, 0, now + waits[i] + 10, pid, 1, 0);
		now += 1000;
	}
	r = story_read(&s, &job_wakeups, &cfg);
	assert_int_equal(r.nr_worst, 3);
	assert_int_equal(r.worst[0].ns, 700);
	assert_int_equal(r.worst[1].ns, 600);
	assert_int_equal(r.worst[2].ns, 500);
	job_result_free(&r);
}

/* Whoever has a vCPU does not wait for one, nor who sleeps on. */
static void test_no_waits(void **state)
{
	static struct story s;
	const struct job_config cfg = {0};
	struct job_result r;

	(void)state;
	s = (struct story){0};
	story_switch(&s, 0, 0, 0, 0, 10);
	story_woken(&s, 1, 500, STORY_WAKEUP, 10);
	story_switch(&s, 0, 1000, 10, 1, 0);
	story_switch(&s, 0, 9000, 0, 0, 10);
	r = story_read(&s, &job_wakeups, &cfg);
	assert_int_equal(r.report.nr, 0);
	assert_int_equal(r.events, 4);
	job_result_free(&r);
}

/* What began before records were lost is not known to have lasted. */
static void test_lost(void **state)
{
	static struct story s;
	const struct job_config cfg = {.worst = 1};
	struct job_result r;

	(void)state;
	s = (struct story){0};
	story_switch(&s, 0, 0, 0, 0, 20);
	story_woken(&s, 0, 1000, STORY_WAKEUP, 10);
	story_page(&s, 0, 5000, 3);
	story_switch(&s, 0, 5000, 30, 1, 10);
	story_woken(&s, 0, 6000, STORY_WAKEUP, 20);
	story_switch(&s, 0, 7000, 10, 1, 20);
	r = story_read(&s, &job_wakeups, &cfg);
	assert_int_equal(r.report.gaps, 1);
	assert_int_equal(r.report.nr, 1);
	check_row(&r, "task20-20", 1, 1000, 1000);
	job_result_free(&r);
}

static void test_text(void **state)
{
	static struct story s;
	const struct job_config cfg = {.worst = 1};
	const struct latency_view view = {.rows = 1};
	struct text out = {0};
	struct job_result r;

	(void)state;
	woken_and_preempted(&s);
	r = story_read(&s, &job_wakeups, &cfg);
	latency_report_sort(&r.report, LATENCY_TOTAL);
	render_latency(&r.report, &view, &out);
	job_render_worst(&r, &out);
	text_putc(&out, '\0');
	assert_non_null(strstr(out.buf, "# wakeups: 1 of 2 rows\n"));
	assert_non_null(strstr(out.buf, "  task10-10\n"));
	assert_null(strstr(out.buf, "task20-20\n"));
	assert_non_null(strstr(out.buf,
			       "   2.00 us         1.000001    0  task10-10                "
			       "task20-20 2.00 us\n"));
	text_free(&out);
	job_result_free(&r);
}

static void test_json(void **state)
{
	static struct story s;
	const struct job_config cfg = {.worst = 1};
	struct job_result r;
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	(void)state;
	woken_and_preempted(&s);
	r = story_read(&s, &job_wakeups, &cfg);
	latency_report_sort(&r.report, LATENCY_TOTAL);
	job_json(&r, 1, out);
	fclose(out);
	assert_string_equal(
		text,
		"{\n  \"what\": \"wakeups\",\n  \"rows\": [\n"
		"    {\"name\": \"task10-10\", \"count\": 1, \"total_ns\": 2000, \"mean_ns\": 2000, "
		"\"p50_ns\": 2000, \"p99_ns\": 2000, \"max_ns\": 2000, \"histogram\": [[1024, 1]]}\n"
		"  ],\n  \"all\": {\"name\": \"all\", \"count\": 2, \"total_ns\": 2500, \"mean_ns\": 1250, "
		"\"p50_ns\": 511, \"p99_ns\": 2000, \"max_ns\": 2000, \"histogram\": [[256, 1], "
		"[1024, 1]]},\n"
		"  \"worst\": [\n"
		"    {\"from_ns\": 1000001000, \"ns\": 2000, \"cpu\": 0, \"preempted\": false, "
		"\"task\": {\"pid\": 10, \"comm\": \"task10\"}, \"ran\": [{\"pid\": 20, \"comm\": "
		"\"task20\", \"ns\": 2000}]}\n"
		"  ],\n  \"unbegun\": 2,\n  \"unended\": 0,\n  \"gaps\": 0\n}\n");
	free(text);
	job_result_free(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_waits),	 cmocka_unit_test(test_by),
		cmocka_unit_test(test_worst),	 cmocka_unit_test(test_many_worst),
		cmocka_unit_test(test_no_waits), cmocka_unit_test(test_lost),
		cmocka_unit_test(test_text),	 cmocka_unit_test(test_json),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
