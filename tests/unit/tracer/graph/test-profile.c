// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test-profile.c - the text of trace_stat/functionN. Expected lines are a real kernel's, of which
 * the sums are known that it was made from.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tracer/graph/profile.h"

#define HEADER                                                                                     \
	"  Function                               Hit    Time            Avg             s^2\n"    \
	"  --------                               ---    ----            ---             ---\n"

static const char *const names[] = {"schedule", "do_exit", "do_group_exit",
				    "a_function_whose_name_is_longer_than_its_column"};

static void print_name(void *arg, uint64_t addr, struct text *out)
{
	(void)arg;
	assert_in_range(addr, 1, 4);
	text_puts(out, names[addr - 1]);
}

static void expect(const struct profile *p, uint64_t thresh, const char *expected)
{
	struct text text = {0};

	profile_print(p, thresh, print_name, NULL, &text);
	text_putc(&text, '\0');
	assert_false(text.failed);
	assert_string_equal(text.buf, expected);
	text_free(&text);
}

static void call(struct profile *p, uint64_t addr, uint64_t ns)
{
	profile_call(p, addr);
	profile_return(p, addr, ns);
}

static void nothing_is_a_header(void **state)
{
	struct profile *p = profile_new();

	(void)state;
	expect(NULL, 0, HEADER);
	expect(p, 0, HEADER);
	profile_return(p, 1, 5); /* it was called before all this */
	expect(p, 0, HEADER);
	profile_free(p);
}

static void longest_comes_first(void **state)
{
	struct profile *p = profile_new();

	(void)state;
	profile_call(p, 3);
	profile_call(p, 2); /* they do not return: of them the later one comes first */
	call(p, 4, 123);
	call(p, 1, 249009400);
	expect(p, 0,
	       HEADER
	       "  schedule                                 1    249009.4 us     249009.4 us     "
	       "0.000 us    \n"
	       "  a_function_whose_name_is_longe           1    0.123 us        0.123 us        "
	       "0.000 us    \n"
	       "  do_exit                                  1    0.000 us        0.000 us        "
	       "0.000 us    \n"
	       "  do_group_exit                            1    0.000 us        0.000 us        "
	       "0.000 us    \n");
	expect(p, 124,
	       HEADER
	       "  schedule                                 1    249009.4 us     249009.4 us     "
	       "0.000 us    \n");
	profile_reset(p);
	expect(p, 0, HEADER);
	profile_free(p);
}

/* Values 1000, 2000 and 6000 ns: their variance is 7 us^2. */
static void variance_is_that_of_a_sample(void **state)
{
	struct profile *p = profile_new();

	(void)state;
	call(p, 1, 1000);
	call(p, 1, 2000);
	call(p, 1, 6000);
	expect(p, 0,
	       HEADER
	       "  schedule                                 3    9.000 us        3.000 us        "
	       "7.000 us    \n");
	profile_free(p);
}

static void print_number(void *arg, uint64_t addr, struct text *out)
{
	uint64_t *sum = arg;

	*sum += addr;
	text_printf(out, "f%u", (unsigned int)addr);
}

/* As many as a guest can make up: memory is bounded, what is known stays known. */
static void many_functions(void **state)
{
	struct profile *p = profile_new();
	struct text text = {0};
	uint64_t sum = 0;
	const uint64_t n = PROFILE_MAX;

	(void)state;
	for (uint64_t i = 1; i <= n + 10; i++)
		call(p, i, 1);
	call(p, 7, 1);
	profile_print(p, 0, print_number, &sum, &text);
	assert_int_equal(sum, n * (n + 1) / 2);
	assert_non_null(strstr(text.buf, "  f7                                       2    "));
	text_free(&text);
	profile_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_a_header),
		cmocka_unit_test(longest_comes_first),
		cmocka_unit_test(variance_is_that_of_a_sample),
		cmocka_unit_test(many_functions),
	};

	return cmocka_run_group_tests_name("profile", tests, NULL, NULL);
}
