// SPDX-License-Identifier: GPL-2.0-or-later
/* test-tracefs-numbers.c - how numbers and masks are read and printed in files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "frontend/tracefs/internal.h"

static void test_number(void **state)
{
	static const struct {
		const char *text;
		int rc;
		uint64_t value;
	} cases[] = {
		{"0", 0, 0},
		{"64\n", 0, 64},
		{"+7", 0, 7},
		{"18446744073709551615", 0, UINT64_MAX},
		{"18446744073709551616", -ERANGE, 0},
		{"99999999999999999999999", -ERANGE, 0},
		{"", -EINVAL, 0},
		{"\n", -EINVAL, 0},
		{"+", -EINVAL, 0},
		{"-1", -EINVAL, 0},
		{" 1", -EINVAL, 0},
		{"1 ", -EINVAL, 0},
		{"1\n\n", -EINVAL, 0},
		{"0x10", -EINVAL, 0},
		{"99999999999999999999999x", -EINVAL, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t value = 0;

		assert_int_equal(parse_number(cases[i].text, strlen(cases[i].text), &value),
				 cases[i].rc);
		assert_int_equal(value, cases[i].value);
	}
}

static void test_mask(void **state)
{
	static const struct {
		const char *text;
		unsigned int bits;
		int rc;
		uint64_t value;
	} cases[] = {
		{"3", 2, 0, 3},
		{"4", 2, -EOVERFLOW, 0},
		{"\n", 2, 0, 0},
		{"", 2, -EINVAL, 0},
		{"1\nzz", 2, 0, 1},
		{" 1 \n", 2, 0, 1},
		{"0-1", 2, -EINVAL, 0},
		{"0x3", 2, -EINVAL, 0},
		{"fffffffff", 2, -EOVERFLOW, 0},
		{"8000000000", 2, -EOVERFLOW, 0},
		{"1,00000000", 33, 0, UINT64_C(1) << 32},
		{"ffffffff,fFffffff", 64, 0, UINT64_MAX},
		{"1,0,0", 64, -EOVERFLOW, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t value = 0;

		assert_int_equal(
			parse_mask(cases[i].text, strlen(cases[i].text), cases[i].bits, &value),
			cases[i].rc);
		assert_int_equal(value, cases[i].value);
	}
}

static void test_print_mask(void **state)
{
	static const struct {
		uint64_t mask;
		unsigned int bits;
		const char *text;
	} cases[] = {
		{3, 2, "3"},
		{3, 5, "03"},
		{0xf, 32, "0000000f"},
		{1, 33, "0,00000001"},
		{UINT64_MAX, 64, "ffffffff,ffffffff"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct text out = {0};

		print_mask(cases[i].mask, cases[i].bits, &out);
		text_putc(&out, '\0');
		assert_string_equal(out.buf, cases[i].text);
		text_free(&out);
	}
}

static void test_strip(void **state)
{
	char to[8];

	(void)state;
	copy_stripped(to, sizeof(to), " nop\n", 5);
	assert_string_equal(to, "nop");
	copy_stripped(to, sizeof(to), "\n \n", 3);
	assert_string_equal(to, "");
	copy_stripped(to, sizeof(to), "a much longer one", 17);
	assert_string_equal(to, "a much");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_number),
		cmocka_unit_test(test_mask),
		cmocka_unit_test(test_print_mask),
		cmocka_unit_test(test_strip),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
