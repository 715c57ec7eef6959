// SPDX-License-Identifier: GPL-2.0-or-later
/* test-tables.c - no more tasks and rows are kept than there is room for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "frontend/jobs/rows.h"
#include "frontend/jobs/tasks.h"

static void test_rows(void **state)
{
	struct latency_report report = {0};
	struct latency_row *row;
	struct rows x;
	char name[32];

	(void)state;
	assert_true(rows_init(&x, &report));
	for (uint64_t i = 0; i < 2 * JOB_ROWS_MAX; i++) {
		snprintf(name, sizeof(name), "row %u", (unsigned int)i);
		row = rows_get(&x, i, name, "");
		assert_non_null(row);
		latency_add(row, 1);
		assert_string_equal(row->from, i < JOB_ROWS_MAX - 1 ? name : "others");
	}
	assert_int_equal(report.nr, JOB_ROWS_MAX);
	assert_int_equal(report.row[JOB_ROWS_MAX - 1].count, JOB_ROWS_MAX + 1);
	row = rows_get(&x, 5, "another name", "to");
	assert_ptr_equal(row, &report.row[5]);
	assert_string_equal(row->from, "another name");
	assert_string_equal(row->to, "to");
	rows_exit(&x);
	latency_report_free(&report);
}

/* Those of which nothing is open make room. */
static void test_tasks(void **state)
{
	struct job_tasks t = {0};
	struct job_task *task;
	bool made;

	(void)state;
	assert_true(job_tasks_init(&t));
	job_tasks_get(&t, 7, &made)->open = true;
	for (int32_t pid = 1000; pid < 1000 + (int32_t)JOB_TASKS_MAX; pid++) {
		job_tasks_get(&t, pid, &made);
		assert_true(made);
	}
	task = job_tasks_get(&t, 7, &made);
	assert_false(made);
	assert_true(task->open);
	assert_int_equal(t.nr, 2);
	assert_int_equal(t.forgotten, 0);
	job_tasks_exit(&t);
}

/* If all have, all go, which is counted. */
static void test_busy_tasks(void **state)
{
	struct job_tasks t = {0};
	bool made;

	(void)state;
	assert_true(job_tasks_init(&t));
	for (int32_t pid = 1; pid <= (int32_t)JOB_TASKS_MAX + 1; pid++)
		job_tasks_get(&t, pid, &made)->open = true;
	assert_int_equal(t.nr, 1);
	assert_int_equal(t.forgotten, JOB_TASKS_MAX);
	job_tasks_get(&t, 1, &made);
	assert_true(made);
	job_tasks_exit(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_tasks),
		cmocka_unit_test(test_busy_tasks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
