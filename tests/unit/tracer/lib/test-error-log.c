// SPDX-License-Identifier: GPL-2.0-or-later
/* test-error-log.c - error_log: its form, byte for byte, that 8 are kept, and that it is cleared.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tracer/lib/error-log.h"

#define WHERE "event filter parse error"

static void expect(struct error_log *log, const char *want)
{
	struct text out = {0};

	error_log_print(log, &out);
	text_putc(&out, '\0');
	assert_false(out.failed);
	assert_string_equal(out.buf, want);
	text_free(&out);
}

static void test_form(void **state)
{
	struct error_log *log = error_log_new();

	(void)state;
	expect(log, "");
	error_log_add(log, UINT64_C(16321043999), WHERE, "Field not found", "nosuch == 1", 7);
	error_log_add(log, UINT64_C(123456000001000), WHERE, "Error", "", 0);
	expect(log, "[   16.321043] event filter parse error: error: Field not found\n"
		    "  Command: nosuch == 1\n"
		    "                  ^\n"
		    "[123456.000001] event filter parse error: error: Error\n"
		    "  Command: \n"
		    "           ^\n");
	error_log_clear(log);
	expect(log, "");
	error_log_free(log);
	error_log_free(NULL);
}

static void test_latest_are_kept(void **state)
{
	struct error_log *log = error_log_new();
	struct text want = {0};

	(void)state;
	for (int i = 1; i <= 19; i++) {
		char command[32];

		snprintf(command, sizeof(command), "bad%d == 1", i);
		error_log_add(log, (uint64_t)i * 1000000000, WHERE, "Field not found", command, 5);
		if (i <= 11)
			continue;
		text_printf(&want, "[%5d.000000] " WHERE ": error: Field not found\n", i);
		text_printf(&want, "  Command: %s\n%16s^\n", command, "");
	}
	text_putc(&want, '\0');
	expect(log, want.buf);
	text_free(&want);
	error_log_free(log);
}

/* What says where is cut to 127 bytes with what stands behind it; commands are not. */
static void test_long(void **state)
{
	struct error_log *log = error_log_new();
	char where[201], command[5001];
	struct text out = {0};

	(void)state;
	memset(where, 'w', 200);
	where[200] = '\0';
	memset(command, 'c', 5000);
	command[5000] = '\0';
	error_log_add(log, 0, where, "!", command, UINT16_MAX);
	error_log_print(log, &out);
	assert_int_equal(out.len, 15 + 127 + 1 + 12 + 5000 + 1 + 11 + UINT16_MAX + 2);
	assert_memory_equal(out.buf + 15 + 126, "w!\n  Command: cc", 16);
	text_free(&out);
	error_log_free(log);
}

static void test_pos(void **state)
{
	(void)state;
	assert_int_equal(error_log_pos("a == b", "=="), 2);
	assert_int_equal(error_log_pos("a == b", "a"), 0);
	assert_int_equal(error_log_pos("a == b", "none"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_form),
		cmocka_unit_test(test_latest_are_kept),
		cmocka_unit_test(test_long),
		cmocka_unit_test(test_pos),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
