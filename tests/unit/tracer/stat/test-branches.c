// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test-branches.c - trace_stat/branch_annotated of a made-up guest that counts its likely() and
 * unlikely(): columns and order, and a guest that tells nonsense.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "tests/unit/trace-guest.h"
#include "tests/unit/made-likely.h"

/* Offsets in the made-up image. */
enum { COUNTS = 0xa000, NAMES = 0xb000 };

static const struct {
	const char *func, *file;
	uint64_t correct, incorrect, constant;
	unsigned int line;
} counts[] = {
	{"never", "kernel/a.c", 0, 0, 0, 1},
	{"always_wrong", "kernel/a.c", 0, 7, 0, 22},
	{"half", "include/linux/b.h", 5, 5, 0, 333},
	{"half_more", "b.h", 50, 50, 0, 4},
	{"constant", "kernel/a.c", 9, 0, 9, 5},
	{"constant_too", "kernel/a.c", 12345678, 1, 12345678, 6},
	{"right", "kernel/a.c", 100, 0, 0, 7},
	{"a_function_whose_name_is_longer_than_thirty", "a_file_whose_name_is_longer.c", 3, 0, 0,
	 8},
	{"right_as_well", "kernel/a.c", 3, 0, 0, 9},
};

enum { NR_COUNTS = sizeof(counts) / sizeof(counts[0]) };

static void put_counts(void)
{
	uint32_t name = NAMES;

	for (uint32_t i = 0; i < NR_COUNTS; i++) {
		uint32_t at = COUNTS + i * LIKELY_SIZE;

		likely_put(at, counts[i].func, counts[i].file, counts[i].line, &name);
		put(at + LIKELY_CORRECT, counts[i].correct, 8);
		put(at + LIKELY_INCORRECT, counts[i].incorrect, 8);
		put(at + LIKELY_CONSTANT, counts[i].constant, 8);
	}
}

static int set_up(void **state)
{
	guest_set_up(state);
	likely_add(COUNTS, NR_COUNTS);
	put_counts();
	return 0;
}

#define HEADER                                                                                     \
	" correct incorrect  %        Function                  File              Line\n"          \
	" ------- ---------  -        --------                  ----              ----\n"

static void expect(struct trace *t, const char *want)
{
	struct text out = {0};

	trace_print_branches(t, &out);
	text_putc(&out, '\0');
	assert_string_equal(out.buf, want);
	text_free(&out);
}

/* Worst first, then those that are right, the least often first; of the same the later one. */
static void counts_are_sorted(void **state)
{
	struct trace *t = trace_started((struct trace_config){0});

	(void)state;
	assert_true(trace_counts_branches(t));
	expect(t, HEADER
	       "       0        7 100 always_wrong                   a.c                  22\n"
	       "      50       50  50 half_more                      b.h                  4\n"
	       "       5        5  50 half                           b.h                  333\n"
	       "12345678/12345678 1   0 constant_too                   a.c                  6\n"
	       "       3        0   0 right_as_well                  a.c                  9\n"
	       "       3        0   0 a_function_whose_name_is_longe a_file_whose_name_is 8\n"
	       "       9/9      0   0 constant                       a.c                  5\n"
	       "     100        0   0 right                          a.c                  7\n"
	       "       0        0   X never                          a.c                  1\n");
	trace_free(t);
}

/* They go on. */
static void counts_are_read_anew(void **state)
{
	struct trace *t = trace_started((struct trace_config){0});

	(void)state;
	fake.syms[fake.nsyms - 1].addr = FAKE_VA(COUNTS + LIKELY_SIZE);
	expect(t, HEADER
	       "       0        0   X never                          a.c                  1\n");
	put(COUNTS + LIKELY_CORRECT, 1, 8);
	expect(t, HEADER
	       "       1        0   0 never                          a.c                  1\n");
	trace_free(t);
}

static void nonsense_is_told_as_it_is(void **state)
{
	struct trace *t = trace_started((struct trace_config){0});

	(void)state;
	fake.syms[fake.nsyms - 1].addr = FAKE_VA(COUNTS + LIKELY_SIZE);
	put(COUNTS + LIKELY_FUNC, 0x1234, 8);
	put(COUNTS + LIKELY_FILE, 0, 8);
	put(COUNTS + LIKELY_CORRECT, 0, 8);
	put(COUNTS + LIKELY_INCORRECT, UINT64_MAX, 8);
	put(COUNTS + LIKELY_LINE, UINT32_MAX, 4);
	expect(t, HEADER "       0 18446744073709551615 100                                "
			 "                     -1\n");
	/* correct + incorrect is 0 */
	put(COUNTS + LIKELY_CORRECT, 1, 8);
	expect(t, HEADER "       1 18446744073709551615   X                                "
			 "                     -1\n");
	/* the end is before the beginning, or far away */
	fake.syms[fake.nsyms - 1].addr = FAKE_VA(COUNTS - LIKELY_SIZE);
	expect(t, HEADER);
	fake.syms[fake.nsyms - 1].addr = UINT64_MAX;
	expect(t, HEADER);
	trace_free(t);
}

static void a_kernel_that_does_not_count(void **state)
{
	struct trace *t = trace_started((struct trace_config){0});

	(void)state;
	fake.nsyms--;
	assert_false(trace_counts_branches(t));
	fake.nsyms++;
	fake.nfields--;
	assert_false(trace_counts_branches(t));
	expect(t, HEADER);
	trace_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(counts_are_sorted, set_up, guest_tear_down),
		cmocka_unit_test_setup_teardown(counts_are_read_anew, set_up, guest_tear_down),
		cmocka_unit_test_setup_teardown(nonsense_is_told_as_it_is, set_up, guest_tear_down),
		cmocka_unit_test_setup_teardown(a_kernel_that_does_not_count, set_up,
						guest_tear_down),
	};

	return cmocka_run_group_tests_name("branch counts", tests, NULL, NULL);
}
