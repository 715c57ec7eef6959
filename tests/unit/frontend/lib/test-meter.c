// SPDX-License-Identifier: GPL-2.0-or-later
/* test-meter.c - what people see of how far something is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "frontend/lib/meter.h"
#include "frontend/lib/output.h"
#include "tests/unit/on-terminal.h"

#define CLEAR "\r\033[K"

static char said[4096];

/* What a program has said to stderr, which is a terminal or a pipe. */
static void run(void (*program)(void), bool terminal)
{
	int end;
	pid_t pid = on_terminal_fork(terminal, STDERR_FILENO, &end);

	if (!pid) {
		setenv("NO_COLOR", "1", 1);
		if (output_start())
			_exit(1);
		program();
		_exit(0);
	}
	on_terminal_read(pid, end, said, sizeof(said));
}

/* As if it had begun so long ago. */
static void begun(struct meter *m, const char *what, const char *unit, int64_t ms)
{
	meter_begin(m, what, unit);
	m->began_ms -= ms;
}

static void half_done(void)
{
	struct meter m;

	begun(&m, "a\033[31mfile", "records", 100000);
	meter_show(&m, 50, 100, 1000000);
	meter_show(&m, 51, 100, 1000001); /* too soon */
	meter_end(&m);
	meter_show(&m, 52, 100, 1000002); /* it has ended */
}

static void test_job(void **state)
{
	static const char line[] = CLEAR "a\\x1b[31mfile  50 %  1000000 records  ";
	unsigned int rate, minutes, seconds;
	int end = 0;

	(void)state;
	run(half_done, true);
	assert_memory_equal(said, line, strlen(line));
	assert_int_equal(sscanf(said + strlen(line), "%u/s  %u:%u left" CLEAR "%n", &rate, &minutes,
				&seconds, &end),
			 3);
	assert_string_equal(said + strlen(line) + end, "");
	/* However long it takes to get here. */
	assert_in_range(rate, 1, 10000);
	assert_true(minutes * 60 + seconds >= 100);
	run(half_done, false);
	assert_string_equal(said, "");
}

static void short_job(void)
{
	struct meter m;

	begun(&m, "file", NULL, -100000);
	meter_show(&m, 1, 2, 0);
	meter_wait(&m);
	meter_end(&m);
}

static void test_short_job(void **state)
{
	(void)state;
	run(short_job, true);
	assert_string_equal(said, "");
}

static void no_share(void)
{
	struct meter m;

	begun(&m, "file", NULL, 10000);
	meter_show(&m, 0, 0, 0);
	m.drawn_ms = 0;
	meter_show(&m, 3, 2, 0);
}

/* Files lie about how much there is. */
static void test_no_share(void **state)
{
	(void)state;
	run(no_share, true);
	assert_string_equal(said, CLEAR "file  0 %" CLEAR "file  100 %  0 s left");
}

static void wait_long(void)
{
	struct meter m;

	begun(&m, "waiting", NULL, 3723000);
	meter_wait(&m);
	meter_wait(&m);
	fputs("hvtrace: it is there\n", stderr);
	meter_end(&m);
}

/* Messages take the place of the line. */
static void test_wait(void **state)
{
	(void)state;
	run(wait_long, true);
	assert_memory_equal(said, CLEAR "waiting  1:02:0", strlen(CLEAR "waiting  1:02:0"));
	assert_non_null(strstr(said, " (Ctrl-C gives up)" CLEAR "hvtrace: it is there\n"));
	assert_int_equal(strlen(strstr(said, "there\n")), strlen("there\n"));
	run(wait_long, false);
	assert_string_equal(said, "hvtrace: waiting takes a while\nhvtrace: it is there\n");
}

static void test_time(void **state)
{
	static const struct {
		uint64_t seconds;
		const char *text;
	} cases[] = {{0, "0 s"},      {59, "59 s"},	 {60, "1:00"},
		     {3599, "59:59"}, {3600, "1:00:00"}, {UINT64_MAX, "5124095576030431:00:15"}};
	char buf[METER_TIME_LEN];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(meter_time(cases[i].seconds, buf), cases[i].text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_job),	 cmocka_unit_test(test_short_job),
		cmocka_unit_test(test_no_share), cmocka_unit_test(test_wait),
		cmocka_unit_test(test_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
