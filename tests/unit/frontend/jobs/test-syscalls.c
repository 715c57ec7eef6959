// SPDX-License-Identifier: GPL-2.0-or-later
/* test-syscalls.c - what system calls take, how many fail, and what they are called. */
#include "tests/unit/jobs-world.h"

#include "frontend/jobs/syscall-names.h"

#include <asm/unistd.h>

static void check_row(const struct job_result *r, const char *from, const char *to, uint64_t count,
		      uint64_t errors, uint64_t total)
{
	const struct latency_row *row = story_row(r, from, to);

	assert_int_equal(row->count, count);
	assert_int_equal(row->errors, errors);
	assert_int_equal(row->total, total);
}

static void test_names(void **state)
{
	(void)state;
	assert_string_equal(syscall_name(__NR_read), "read");
	assert_string_equal(syscall_name(__NR_openat), "openat");
	assert_string_equal(syscall_name(__NR_openat2), "openat2");
	assert_null(syscall_name(100000));
}

static void some_calls(struct story *s)
{
	*s = (struct story){0};
	story_call(s, 0, STORY_EXIT, 10, __NR_read, 1); /* has begun before */
	story_call(s, 1000, STORY_ENTER, 10, __NR_read, 0);
	story_call(s, 1100, STORY_ENTER, 20, __NR_read, 0);
	story_call(s, 1400, STORY_EXIT, 10, __NR_read, 100);
	story_call(s, 1600, STORY_EXIT, 20, __NR_read, -11);
	story_call(s, 2000, STORY_ENTER, 10, __NR_mmap, 0);
	story_call(s, 2100, STORY_EXIT, 10, __NR_mmap, -5000); /* no error: an address */
	story_call(s, 3000, STORY_ENTER, 10, 9999, 0);
	story_call(s, 3007, STORY_EXIT, 10, 9999, -38);
	story_call(s, 4000, STORY_ENTER, 20, __NR_exit_group, 0);
}

static void test_calls(void **state)
{
	static struct story s;
	const struct job_config cfg = {0}, by_task = {.by = "task"};
	struct job_result r;

	(void)state;
	some_calls(&s);
	r = story_read(&s, &job_syscalls, &cfg);
	assert_int_equal(r.report.nr, 3);
	check_row(&r, "read", "", 2, 1, 900);
	check_row(&r, "mmap", "", 1, 0, 100);
	check_row(&r, "syscall 9999", "", 1, 1, 7);
	assert_int_equal(r.unbegun, 1);
	assert_int_equal(r.unended, 1);
	job_result_free(&r);
	some_calls(&s);
	r = story_read(&s, &job_syscalls, &by_task);
	check_row(&r, "<...>-10", "read", 1, 0, 400);
	check_row(&r, "<...>-20", "read", 1, 1, 500);
	job_result_free(&r);
}

/* The events of a call alone have its name; with both kinds a call counts once. */
static void test_single(void **state)
{
	static struct story s;
	const struct job_config cfg = {0};
	struct job_result r;

	(void)state;
	for (int both = 0; both < 2; both++) {
		s = (struct story){0};
		if (both)
			story_call(&s, 900, STORY_ENTER, 10, 9998, 0);
		story_call(&s, 1000, STORY_OPENAT, 10, 9998, 0);
		if (both)
			story_call(&s, 1200, STORY_EXIT, 10, 9998, -2);
		story_call(&s, 1300, STORY_OPENAT_DONE, 10, 9998, -2);
		r = story_read(&s, &job_syscalls, &cfg);
		assert_int_equal(r.report.nr, 1);
		check_row(&r, both ? "syscall 9998" : "openat", "", 1, 1, 300);
		job_result_free(&r);
	}
}

static void test_text(void **state)
{
	static struct story s;
	const struct job_config cfg = {0};
	const struct latency_view view = {.rows = 1};
	struct text out = {0};
	struct job_result r;

	(void)state;
	some_calls(&s);
	r = story_read(&s, &job_syscalls, &cfg);
	latency_report_sort(&r.report, LATENCY_TOTAL);
	render_latency(&r.report, &view, &out);
	text_putc(&out, '\0');
	assert_non_null(strstr(out.buf, "       COUNT     ERRORS      TOTAL "));
	assert_non_null(strstr(out.buf, "           2          1     900 ns "));
	text_free(&out);
	job_result_free(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_calls),
		cmocka_unit_test(test_single),
		cmocka_unit_test(test_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
