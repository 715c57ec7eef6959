// SPDX-License-Identifier: GPL-2.0-or-later
/* test-nearest.c - which name somebody may have meant. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tracer/lib/nearest.h"

static const char *const names[] = {"function_graph", "function",      "filter", "format", "for",
				    "window",	      "window-memory", "nop"};

static void expect(const char *word, const char *name)
{
	struct nearest n;

	nearest_begin(&n, word);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		nearest_try(&n, names[i]);
	if (name)
		assert_string_equal(nearest_name(&n), name);
	else
		assert_null(nearest_name(&n));
}

static void finds_slips(void **state)
{
	(void)state;
	expect("functoin", "function"); /* two letters exchanged */
	expect("funtion", "function");
	expect("funcction", "function");
	expect("funktion", "function");
	expect("function-graph", "function_graph");
	expect("windows", "window");
	expect("window-memroy", "window-memory");
}

static void finds_the_rest_of_a_word(void **state)
{
	(void)state;
	expect("fil", "filter");
	expect("window-m", "window-memory");
	expect("wind", "window"); /* the shorter one of two */
	expect("functio", "function");
	expect("graph", "function_graph");
	expect("aph", NULL); /* not from an underscore on */
	expect("memory", NULL);
}

static void leaves_alone_what_is_another_word(void **state)
{
	char longest[200];

	(void)state;
	memset(longest, 'f', sizeof(longest));
	longest[sizeof(longest) - 1] = '\0';
	expect("blk", NULL);
	expect("", NULL);
	expect("fo", NULL);
	expect("funct*", NULL); /* a pattern */
	expect(longest, NULL);
}

static void a_long_name_is_none(void **state)
{
	char name[NEAREST_LEN + 1];
	struct nearest n;

	(void)state;
	memset(name, 'x', sizeof(name));
	name[NEAREST_LEN] = '\0';
	nearest_begin(&n, "xxxxx");
	nearest_try(&n, name);
	assert_null(nearest_name(&n));
	name[NEAREST_LEN - 1] = '\0';
	nearest_try(&n, name);
	assert_string_equal(nearest_name(&n), name);
}

static void hints(void **state)
{
	struct nearest n;
	char hint[64];

	(void)state;
	nearest_begin(&n, "filer");
	assert_string_equal(nearest_hint(&n, "--", hint, sizeof(hint)), "");
	nearest_try(&n, "filter");
	assert_string_equal(nearest_hint(&n, "--", hint, sizeof(hint)), "; did you mean --filter?");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_slips),
		cmocka_unit_test(finds_the_rest_of_a_word),
		cmocka_unit_test(leaves_alone_what_is_another_word),
		cmocka_unit_test(a_long_name_is_none),
		cmocka_unit_test(hints),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
