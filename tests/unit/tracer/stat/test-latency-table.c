// SPDX-License-Identifier: GPL-2.0-or-later
/* test-latency-table.c - the counts of hvtrace/latency, and the lines that they are printed as. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tracer/stat/latency-table.h"

#define HEAD(left_out, gaps)                                                                       \
	"# left out\t" left_out "\n# gaps\t" gaps "\n# from\tto\tcount\ttotal\tmax\tns:count...\n"

/* Keys that differ by 100 have the same name. */
static void print_name(void *arg, uint64_t key, struct text *out)
{
	static const char *const names[] = {"", "cli", "sti", "a task", "a\ttab\n\x80"};

	(void)arg;
	text_puts(out, key % 100 < 5 ? names[key % 100] : "other");
}

static void print_place(void *arg, uint64_t addr, struct text *out)
{
	(void)arg;
	if (addr)
		text_printf(out, "f%u", (unsigned int)addr);
}

static const struct latency_names names = {.name = print_name, .place = print_place};

static char *print(struct latency_table *t, struct text *text)
{
	*text = (struct text){0};
	latency_table_print(t, &names, text);
	text_putc(text, '\0');
	assert_false(text->failed);
	return text->buf;
}

static void expect(struct latency_table *t, const char *expected)
{
	struct text text;

	assert_string_equal(print(t, &text), expected);
	text_free(&text);
}

static void each_has_its_bucket(void **state)
{
	struct latency_table *t = latency_table_new();

	(void)state;
	expect(t, HEAD("0", "0"));
	latency_table_add(t, 1, 2, 0, NULL, 0);
	latency_table_add(t, 1, 2, 1, NULL, 0);
	latency_table_add(t, 1, 2, 2, NULL, 0);
	latency_table_add(t, 1, 2, 3, NULL, 0);
	latency_table_add(t, 1, 2, 4, NULL, 0);
	latency_table_add(t, 1, 2, 1023, NULL, 0);
	latency_table_add(t, 1, 2, 1024, NULL, 0);
	expect(t, HEAD("0", "0") "cli\tsti\t7\t2057\t1024\t0:1\t1:1\t2:2\t4:1\t512:1\t1024:1\n");
	latency_table_add(t, 1, 1, UINT64_MAX, NULL, 0);
	expect(t, HEAD("0", "0") "cli\tcli\t1\t18446744073709551615\t18446744073709551615\t"
				 "70368744177664:1\n"
				 "cli\tsti\t7\t2057\t1024\t0:1\t1:1\t2:2\t4:1\t512:1\t1024:1\n");
	latency_table_reset(t);
	expect(t, HEAD("0", "0"));
	latency_table_free(t);
}

static void places_of_one_name_are_one_row(void **state)
{
	struct latency_table *t = latency_table_new();

	(void)state;
	latency_table_add(t, 1, 2, 5, NULL, 0);
	latency_table_add(t, 101, 2, 100, NULL, 0);
	latency_table_add(t, 1, 202, 6, NULL, 0);
	latency_table_add(t, 2, 1, 7, NULL, 0);
	expect(t, HEAD("0", "0") "cli\tsti\t3\t111\t100\t4:2\t64:1\nsti\tcli\t1\t7\t7\t4:1\n");
	/* Printing changes nothing. */
	expect(t, HEAD("0", "0") "cli\tsti\t3\t111\t100\t4:2\t64:1\nsti\tcli\t1\t7\t7\t4:1\n");
	latency_table_free(t);
}

static void names_do_not_break_lines(void **state)
{
	struct latency_table *t = latency_table_new();

	(void)state;
	latency_table_add(t, 3, 4, 1, NULL, 0);
	latency_table_add(t, 0, 3, 1, NULL, 0);
	expect(t, HEAD("0", "0") "?\ta task\t1\t1\t1\t1:1\na task\ta?tab??\t1\t1\t1\t1:1\n");
	latency_table_free(t);
}

static void what_is_too_much_is_counted(void **state)
{
	struct latency_table *t = latency_table_new();
	struct text text;

	(void)state;
	for (uint64_t key = 0; key < LATENCY_ROWS + 10; key++)
		latency_table_add(t, key * 100 + 1, UINT64_C(1) << 40 | 2, 8, NULL, 0);
	/* Those that have a row go on. */
	latency_table_add(t, 1, UINT64_C(1) << 40 | 2, 9, NULL, 0);
	latency_table_gap(t);
	assert_memory_equal(print(t, &text), HEAD("10", "1"), strlen(HEAD("10", "1")));
	assert_non_null(strstr(text.buf, "cli\t"));
	assert_non_null(strstr(text.buf, "\t4097\t32777\t9\t8:4097\n"));
	text_free(&text);
	latency_table_free(t);
}

static void the_longest_has_its_stack(void **state)
{
	const uint64_t stack[LATENCY_STACK_MAX + 1] = {7, 0, 9};
	struct latency_table *t = latency_table_new();
	struct text text;

	(void)state;
	assert_true(latency_table_is_longest(t, 1, 2, 0));
	latency_table_add(t, 1, 2, 16, stack, 3);
	assert_false(latency_table_is_longest(t, 1, 2, 16));
	assert_true(latency_table_is_longest(t, 1, 2, 17));
	latency_table_add(t, 1, 2, 16, stack, 1);
	expect(t, HEAD("0", "0") "cli\tsti\t2\t32\t16\t16:2\n# stack\tf7\t?\tf9\n");
	/* Of rows that are one line, too. */
	latency_table_add(t, 101, 2, 17, stack + 2, 1);
	latency_table_add(t, 201, 2, 3, stack, 1);
	expect(t, HEAD("0", "0") "cli\tsti\t4\t52\t17\t2:1\t16:3\n# stack\tf9\n");
	/* One that nobody has looked at has none. */
	latency_table_add(t, 1, 2, 18, NULL, 0);
	expect(t, HEAD("0", "0") "cli\tsti\t5\t70\t18\t2:1\t16:4\n");
	latency_table_add(t, 2, 2, 1, stack, LATENCY_STACK_MAX + 1);
	assert_non_null(strstr(print(t, &text), "# stack\tf7\t?\tf9"));
	text_free(&text);
	latency_table_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_has_its_bucket),
		cmocka_unit_test(places_of_one_name_are_one_row),
		cmocka_unit_test(names_do_not_break_lines),
		cmocka_unit_test(what_is_too_much_is_counted),
		cmocka_unit_test(the_longest_has_its_stack),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
