// SPDX-License-Identifier: GPL-2.0-or-later
/* test-lines.c - lines of several traces: their times, their order, and how long they wait. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "frontend/fleet/lines.h"

#define S UINT64_C(1000000000)

/* --- times --------------------------------------------------------------------------------------
 */

static void times(void **state)
{
	static const struct {
		const char *line;
		uint64_t time;
	} cases[] = {
		{"  cat-1  [000] ..... 12.000345: vfs_read <-ksys_read", 12 * S + 345000},
		{"  cat-1  [000] 12.000345: vfs_read", 12 * S + 345000},
		{"  cat-1  [000]    0.000000: vfs_read", 0},
		{"  cat-1  [127] d.h1. 59138082779: vfs_read", 59138082779},
		{"  cat-1  (  77) [000] d.h1. 1.500000: vfs_read", S + 500000000},
		/* Names of tasks. */
		{"  a]b-1  [000] d.h1. 12.000000: f", 12 * S},
		{"  [kworker/0:1]-1  [000] d.h1. 12.000000: f", 12 * S},
		{"  ] ] ]-1  [000] d.h1. 12.000000: f", 12 * S},
		{"  a b c d]-1  [000] 12.000000: f", 12 * S},
		{"  1:-1  [000] ..... 12.000000: f", 12 * S},
		/* The first that is one. */
		{"  cat-1  [000] ..... 12.000000: print: [7] 13.000000: x", 12 * S},
		/* As large as there are. */
		{"c [0] 18446744072.999999: f", 18446744072 * S + 999999000},
		{"c [0] 9999999999999999999: f", UINT64_C(9999999999999999999)},
	};
	uint64_t time;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		time = UINT64_MAX;
		if (!lines_time(cases[i].line, strlen(cases[i].line), &time))
			fail_msg("none: %s", cases[i].line);
		assert_int_equal(time, cases[i].time);
	}
}

static void no_times(void **state)
{
	static const char *const lines[] = {
		"",
		"]",
		"] ",
		"[000]",
		"# tracer: function",
		"# entries-in-buffer/entries-written: 0/0   #P:2",
		" 0)   1.209 us    |  vfs_read();",
		"  cat-1  [000] ..... 12.34567: too few digits",
		"  cat-1  [000] ..... 12.3456789: too many",
		"  cat-1  [000] ..... 12.345678",
		"  cat-1  [000] ..... 12.345678:",
		"  cat-1  [000] ..... 12.345678:x",
		"  cat-1  [000] ..... 12.345678 : x",
		"  cat-1  [000] ..... -12.345678: x",
		"  cat-1  [000] a b c 12.345678: x",
		"  cat-1  000 ..... 12.345678: x",
		"c [0] 99999999999999999999: f",
		"c [0] 18446744073.999999: f",
	};
	uint64_t time;

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		if (lines_time(lines[i], strlen(lines[i]), &time))
			fail_msg("%s", lines[i]);
}

/* Nothing is read behind its end. */
static void cut_anywhere(void **state)
{
	static const char line[] = "  a]b-1  [000] d.h1. 12.000000: f";
	uint64_t time;

	(void)state;
	for (size_t len = 0; len <= strlen(line); len++) {
		char *exact = malloc(len + !len);

		memcpy(exact, line, len);
		assert_int_equal(lines_time(exact, len, &time), len >= strlen(line) - 1);
		free(exact);
	}
}

/* --- order --------------------------------------------------------------------------------------
 */

static void put(struct lines *l, unsigned int guest, const char *line, int64_t now_ms)
{
	assert_int_equal(lines_put(l, guest, line, strlen(line), now_ms), 0);
}

/* The next one is this; NULL: none is due. */
static void expect(struct lines *l, const char *line, unsigned int guest, int64_t now_ms, bool all)
{
	unsigned int whose = UINT32_MAX;
	char *next = lines_take(l, &whose, now_ms, all);

	if (!line) {
		assert_null(next);
		return;
	}
	assert_non_null(next);
	assert_string_equal(next, line);
	assert_int_equal(whose, guest);
	free(next);
}

static void by_their_times(void **state)
{
	struct lines *l = lines_new(true);

	(void)state;
	put(l, 0, "a [0] 3.000000: x", 0);
	put(l, 1, "b [0] 1.000000: x", 10);
	put(l, 0, "a [0] 4.000000: x", 20);
	put(l, 2, "c [0] 2.000000: x", 30);
	put(l, 1, "b [0] 3.000000: x", 40);
	expect(l, NULL, 0, 10 + LINES_WAIT_MS - 1, false);
	expect(l, "b [0] 1.000000: x", 1, 10 + LINES_WAIT_MS, false);
	/* The first is younger than what comes behind it. */
	expect(l, NULL, 0, 10 + LINES_WAIT_MS, false);
	expect(l, "c [0] 2.000000: x", 2, 30 + LINES_WAIT_MS, false);
	/* With the same time, as they came. */
	expect(l, "a [0] 3.000000: x", 0, 30 + LINES_WAIT_MS, false);
	expect(l, NULL, 0, 39 + LINES_WAIT_MS, false);
	expect(l, "b [0] 3.000000: x", 1, 40 + LINES_WAIT_MS, false);
	expect(l, "a [0] 4.000000: x", 0, 40 + LINES_WAIT_MS, false);
	expect(l, NULL, 0, INT64_MAX, true);
	lines_free(l);
}

static void late_ones(void **state)
{
	struct lines *l = lines_new(true);

	(void)state;
	put(l, 0, "a [0] 3.000000: x", 0);
	expect(l, "a [0] 3.000000: x", 0, LINES_WAIT_MS, false);
	put(l, 0, "a [0] 4.000000: x", 300);
	put(l, 1, "b [0] 1.000000: late", 310);
	expect(l, NULL, 0, 310, false);
	expect(l, "b [0] 1.000000: late", 1, 310, true);
	expect(l, "a [0] 4.000000: x", 0, 310, true);
	lines_free(l);
}

/* It belongs behind the line before. */
static void without_a_time(void **state)
{
	struct lines *l = lines_new(true);

	(void)state;
	put(l, 0, "# a header", 0);
	put(l, 0, "a [0] 3.000000: x", 0);
	put(l, 0, " => caller", 0);
	put(l, 1, "# another", 0);
	put(l, 1, "b [0] 2.000000: x", 0);
	put(l, 1, " => other caller", 0);
	put(l, 1, "b [0] 4.000000: x", 0);
	expect(l, "# a header", 0, 0, true);
	expect(l, "# another", 1, 0, true);
	expect(l, "b [0] 2.000000: x", 1, 0, true);
	expect(l, " => other caller", 1, 0, true);
	expect(l, "a [0] 3.000000: x", 0, 0, true);
	expect(l, " => caller", 0, 0, true);
	expect(l, "b [0] 4.000000: x", 1, 0, true);
	lines_free(l);
}

static void as_they_come(void **state)
{
	struct lines *l = lines_new(false);

	(void)state;
	put(l, 0, "a [0] 3.000000: x", 0);
	put(l, 1, "b [0] 1.000000: x", 0);
	put(l, 7, "", 0);
	expect(l, "a [0] 3.000000: x", 0, 0, false);
	expect(l, "b [0] 1.000000: x", 1, 0, false);
	expect(l, "", 7, 0, false);
	expect(l, NULL, 0, 0, false);
	lines_free(l);
}

/* Many in any order come out in that of their times. */
static void many(void **state)
{
	struct lines *l = lines_new(true);
	uint32_t seed = 1;
	uint64_t last = 0, time;
	char line[64], *next;
	unsigned int guest, n = 0;

	(void)state;
	for (int i = 0; i < 5000; i++) {
		seed = seed * 1103515245 + 12345;
		snprintf(line, sizeof(line), "t [0] %u.000000: x", seed >> 16);
		put(l, (unsigned int)i % 9, line, i);
	}
	while ((next = lines_take(l, &guest, 0, true))) {
		assert_true(lines_time(next, strlen(next), &time));
		assert_true(time >= last);
		last = time;
		free(next);
		n++;
	}
	assert_int_equal(n, 5000);
	lines_free(l);
}

/* --- bounds -------------------------------------------------------------------------------------
 */

static void no_more_than_so_many(void **state)
{
	struct lines *l = lines_new(true);

	(void)state;
	put(l, 0, "a [0] 1.000000: first", 0);
	for (unsigned int i = 2; i < LINES_MAX; i++)
		put(l, 0, "a [0] 2.000000: x", 0);
	expect(l, NULL, 0, 0, false);
	put(l, 1, "b [0] 3.000000: x", 0);
	expect(l, "a [0] 1.000000: first", 0, 0, false);
	expect(l, NULL, 0, 0, false);
	lines_free(l); /* with all that wait */
}

static void no_more_than_so_much(void **state)
{
	static char text[1 << 20] = "a [0] 1.000000: ";
	struct lines *l = lines_new(true);
	unsigned int guest;
	char *line;

	(void)state;
	memset(text + strlen(text), 'x', sizeof(text) - strlen(text));
	for (unsigned int i = 1; i < LINES_BYTES_MAX / sizeof(text); i++)
		assert_int_equal(lines_put(l, 0, text, sizeof(text), 0), 0);
	expect(l, NULL, 0, 0, false);
	assert_int_equal(lines_put(l, 0, text, sizeof(text), 0), 0);
	line = lines_take(l, &guest, 0, false);
	assert_non_null(line);
	assert_int_equal(strlen(line), sizeof(text));
	free(line);
	expect(l, NULL, 0, 0, false);
	lines_free(l);
	lines_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times),
		cmocka_unit_test(no_times),
		cmocka_unit_test(cut_anywhere),
		cmocka_unit_test(by_their_times),
		cmocka_unit_test(late_ones),
		cmocka_unit_test(without_a_time),
		cmocka_unit_test(as_they_come),
		cmocka_unit_test(many),
		cmocka_unit_test(no_more_than_so_many),
		cmocka_unit_test(no_more_than_so_much),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
