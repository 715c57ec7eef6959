// SPDX-License-Identifier: GPL-2.0-or-later
/* test-guest.c - a handle without a guest: its options, and what it says when there is none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <errno.h>

#include "frontend/api/local.h"

static struct hvtrace *h;

static int set_up(void **state)
{
	(void)state;
	h = hvtrace_new();
	return !h;
}

static int tear_down(void **state)
{
	(void)state;
	hvtrace_free(h);
	return 0;
}

static void refused(const char *option, const char *value, int rc, const char *why)
{
	assert_int_equal(hvtrace_set(h, option, value), rc);
	if (!strstr(hvtrace_error(h), why))
		fail_msg("%s=%s: %s", option, value, hvtrace_error(h));
}

static void test_texts(void **state)
{
	char value[] = "first", other[] = "second";

	(void)state;
	assert_int_equal(hvtrace_set(h, "tracer", value), 0);
	assert_int_equal(hvtrace_set(h, "tracer", other), 0);
	assert_int_equal(hvtrace_set(h, "filter", value), 0);
	assert_int_equal(hvtrace_set(h, "filter", other), 0);
	memset(value, 'x', 5);
	memset(other, 'x', 6);
	assert_string_equal(h->options.tracer, "second");
	assert_int_equal(h->options.filter.nr, 2);
	assert_string_equal(h->options.filter.values[0], "first");
	assert_string_equal(h->options.filter.values[1], "second");
	assert_string_equal(hvtrace_error(h), "");
}

static void test_numbers(void **state)
{
	(void)state;
	assert_int_equal(hvtrace_set(h, "buffer-kb", "64"), 0);
	assert_int_equal(h->options.buffer_bytes, 64 << 10);
	assert_int_equal(hvtrace_set(h, "window-mb", "16"), 0);
	assert_int_equal(h->options.window_bytes, 16 << 20);
	assert_int_equal(hvtrace_set(h, "max-standstill-ms", "500"), 0);
	assert_int_equal(h->target.stand_ms, 500);
	assert_int_equal(hvtrace_set(h, "lossless", "1"), 0);
	assert_true(h->options.lossless);
	assert_int_equal(hvtrace_set(h, "lossless", "0"), 0);
	assert_false(h->options.lossless);
	refused("buffer-kb", "7", -EINVAL, "from 8 to");
	refused("buffer-kb", "64K", -EINVAL, "and not 64K");
	refused("buffer-kb", "", -EINVAL, "buffer-kb");
	refused("buffer-kb", "-64", -EINVAL, "buffer-kb");
	refused("buffer-kb", " 64", -EINVAL, "buffer-kb");
	refused("buffer-kb", "18446744073709551617", -EINVAL, "buffer-kb");
	refused("lossless", "2", -EINVAL, "from 0 to 1");
	assert_int_equal(h->options.buffer_bytes, 64 << 10);
}

static void test_refused(void **state)
{
	(void)state;
	refused("output", "x", -ENOENT, "no option output");
	refused("", "", -ENOENT, "no option");
	refused("engine", "steam", -EINVAL, "engine");
	refused("on-panic", "hide", -EINVAL, "on-panic");
	refused("set", "tracing_on", -EINVAL, "set");
	assert_int_equal(hvtrace_set(h, "engine", "trap"), 0);
	assert_int_equal(hvtrace_set(h, "on-panic", "ignore"), 0);
	assert_int_equal(hvtrace_set(h, "set", "tracing_on=0"), 0);
}

static void test_no_guest(void **state)
{
	const struct hvtrace_event *ev;
	char *text;

	(void)state;
	assert_int_equal(hvtrace_next(h, 0, &ev), -ENOTCONN);
	assert_null(ev);
	assert_int_equal(hvtrace_write(h, "tracing_on", "1"), -ENOTCONN);
	assert_int_equal(hvtrace_read(h, "trace", &text), -ENOTCONN);
	assert_null(text);
	assert_int_equal(hvtrace_confine(h), -ENOTCONN);
	assert_int_equal(hvtrace_detach(h), 0);
	assert_int_equal(hvtrace_count(h, HVTRACE_VCPUS), 0);
	assert_string_equal(hvtrace_guest(h), "");
	assert_string_equal(hvtrace_release(h), "");
	hvtrace_free(NULL);
}

/* It can be tried again, and is as it was. */
static void test_not_attached(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++) {
		assert_int_equal(hvtrace_attach(h, "gdb:unix:/none/such"), -EIO);
		assert_non_null(strstr(hvtrace_error(h), "/none/such"));
		assert_int_equal(hvtrace_set(h, "tracer", "nop"), 0);
	}
	hvtrace_cancel(h);
	assert_int_equal(hvtrace_attach(h, "gdb:unix:/none/such"), -ECANCELED);
	assert_int_equal(hvtrace_attach(h, "gdb:unix:/none/such"), -EIO);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_texts, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_numbers, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_refused, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_no_guest, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_not_attached, set_up, tear_down),
	};

	return cmocka_run_group_tests_name("api-guest", tests, NULL, NULL);
}
