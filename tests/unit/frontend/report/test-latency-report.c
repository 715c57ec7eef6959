// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test-latency-report.c - what hvtrace latency makes of hvtrace/latency, whoever has written that:
 * figures, order, the table and the picture.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "frontend/report/latency.h"

#define HEAD                                                                                       \
	"# tracer\tirqsoff\n# left out\t3\n# gaps\t2\n# from\tto\tcount\ttotal\tmax\tns:count...\n"
#define ROWS                                                                                       \
	"cli\tsti\t100\t20000\t5000\t64:90\t256:9\t4096:1\n"                                       \
	"lock\tunlock\t3\t3000\t1100\t512:2\t1024:1\n"                                             \
	"a\tb\t1000\t64000\t127\t64:1000\n"

static int read_text(struct latency_report *r, const char *text, unsigned int *line)
{
	/* Of its very size, so that a look behind it is noticed. */
	size_t len = strlen(text);
	char *copy = malloc(len + !len);
	int rc;

	for (size_t i = 0; i < len; i++)
		copy[i] = text[i];
	rc = latency_report_read(r, copy, len, line);
	free(copy);
	return rc;
}

static void read_good(struct latency_report *r)
{
	unsigned int line;

	assert_int_equal(read_text(r, HEAD ROWS, &line), 0);
}

static void reads_figures(void **state)
{
	struct latency_report r;
	struct latency_row sum;

	(void)state;
	read_good(&r);
	assert_string_equal(r.tracer, "irqsoff");
	assert_int_equal(r.left_out, 3);
	assert_int_equal(r.gaps, 2);
	assert_int_equal(r.nr, 3);
	assert_string_equal(r.row[1].from, "lock");
	assert_string_equal(r.row[1].to, "unlock");
	assert_int_equal(latency_mean(&r.row[0]), 200);
	latency_report_sum(&r, &sum);
	assert_int_equal(sum.count, 1103);
	assert_int_equal(sum.total, 87000);
	assert_int_equal(sum.max, 5000);
	assert_int_equal(sum.bucket[7], 1090);
	latency_report_free(&r);
}

static void percentiles_are_ends_of_buckets(void **state)
{
	struct latency_row one = {.count = 1, .max = 5, .bucket[3] = 1}, none = {0};
	struct latency_row huge = {.count = UINT64_MAX, .max = 9, .bucket[4] = UINT64_MAX};
	struct latency_report r;

	(void)state;
	read_good(&r);
	assert_int_equal(latency_percentile(&r.row[0], 90), 127);
	assert_int_equal(latency_percentile(&r.row[0], 91), 511);
	assert_int_equal(latency_percentile(&r.row[0], 99), 511);
	assert_int_equal(latency_percentile(&r.row[0], 100), 5000); /* and not 8191 */
	assert_int_equal(latency_percentile(&r.row[1], 66), 1023);
	assert_int_equal(latency_percentile(&r.row[1], 67), 1100);
	assert_int_equal(latency_percentile(&one, 99), 5);
	assert_int_equal(latency_percentile(&none, 99), 0);
	assert_int_equal(latency_percentile(&huge, 99), 9);
	latency_report_free(&r);
}

static void expect_order(enum latency_sort by, const char *first, const char *last)
{
	struct latency_report r;

	read_good(&r);
	latency_report_sort(&r, by);
	assert_string_equal(r.row[0].from, first);
	assert_string_equal(r.row[2].from, last);
	latency_report_free(&r);
}

static void sorts(void **state)
{
	enum latency_sort by;

	(void)state;
	expect_order(LATENCY_MAX, "cli", "a");
	expect_order(LATENCY_P99, "lock", "a");
	expect_order(LATENCY_MEAN, "lock", "a");
	expect_order(LATENCY_TOTAL, "a", "lock");
	expect_order(LATENCY_COUNT, "a", "lock");
	assert_true(latency_sort_parse("p99", &by));
	assert_int_equal(by, LATENCY_P99);
	assert_false(latency_sort_parse("p9", &by));
}

static void refuses_what_makes_no_sense(void **state)
{
	static const struct {
		const char *text;
		unsigned int line;
	} bad[] = {
		{"", 0},
		{"\n", 1},
		{"a\tb\t1\t1\t1\t1:1\n", 1}, /* of no tracer */
		{"# tracer\n", 1},
		{"# tracer\tirq\033soff\n", 1},
		{"# tracer\ta-name-that-is-longer-than-any-tracer-has-one\n", 1},
		{"# tracer\tx\n# gaps\t-1\n", 2},
		{"# tracer\tx\n# left out\t18446744073709551616\n", 2},
		{"# tracer\tx\na\tb\t1\t1\t1\t1:1", 2}, /* cut off */
		{"# tracer\tx\n\tb\t1\t1\t1\t1:1\n", 2},
		{"# tracer\tx\na\t\t1\t1\t1\t1:1\n", 2},
		{"# tracer\tx\na\x1b[2J\tb\t1\t1\t1\t1:1\n", 2},
		{"# tracer\tx\na\tb\n", 2},
		{"# tracer\tx\na\tb\t1\t1\t1\n", 2},
		{"# tracer\tx\na\tb\t0\t0\t0\n", 2},
		{"# tracer\tx\na\tb\t1x\t1\t1\t1:1\n", 2},
		{"# tracer\tx\na\tb\t1\t1\t1\t1\n", 2},
		{"# tracer\tx\na\tb\t1\t1\t1\t1:\n", 2},
		{"# tracer\tx\na\tb\t1\t1\t3\t3:1\n", 2}, /* no power of two */
		{"# tracer\tx\na\tb\t2\t1\t1\t1:1\t1:1\n", 2},
		{"# tracer\tx\na\tb\t2\t1\t1\t1:1\n", 2}, /* not as many as it says */
		{"# tracer\tx\na\tb\t1\t1\t1\t4:1\n", 2}, /* longer than the longest */
		{"# tracer\tx\na\tb\t1\t1\t9\t1:18446744073709551615\t2:2\n", 2},
		{"# tracer\tx\na\tb\t1\t1\t9\t9223372036854775808:1\n", 2},
	};
	struct latency_report r;
	unsigned int line;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		print_message("%zu\n", i);
		assert_int_equal(read_text(&r, bad[i].text, &line), -EINVAL);
		assert_int_equal(line, bad[i].line);
		latency_report_free(&r);
	}
}

static void long_names_are_cut(void **state)
{
	char text[1024];
	struct latency_report r;
	unsigned int line;

	(void)state;
	snprintf(text, sizeof(text), "# tracer\twakeup\n%0300d\tmigration/0-12\t1\t1\t1\t1:1\n", 7);
	assert_int_equal(read_text(&r, text, &line), 0);
	assert_int_equal(strlen(r.row[0].from), LATENCY_NAME_LEN - 1);
	assert_string_equal(r.row[0].to, "migration/0-12");
	latency_report_free(&r);
}

static void expect_text(struct text *text, const char *part)
{
	text_putc(text, '\0');
	assert_false(text->failed);
	assert_non_null(strstr(text->buf, part));
	text->len--;
}

static void prints_a_table(void **state)
{
	struct latency_report r;
	struct text text = {0};

	(void)state;
	read_good(&r);
	latency_report_sort(&r, LATENCY_MAX);
	render_latency(&r, &(struct latency_view){.rows = 2}, &text);
	text_putc(&text, '\0');
	assert_string_equal(
		text.buf,
		"# irqsoff: 2 of 3 pairs of a beginning and an end; 3 windows of others are left "
		"out; records were lost 2 times\n"
		"       COUNT      TOTAL       MEAN     P99 <=        MAX  64 ns-8.19 us  FROM -> TO\n"
		"         100   20.00 us     200 ns     511 ns    5.00 us  @ :   .        cli -> sti\n"
		"           3    3.00 us    1.00 us    1.10 us    1.10 us     @+          lock -> unlock\n"
		"       1,103   87.00 us      78 ns     511 ns    5.00 us  @ ... .        all\n");
	text_free(&text);
	render_latency(&r, &(struct latency_view){.rows = 3, .blocks = true}, &text);
	expect_text(&text, "1,000   64.00 us      64 ns     127 ns     127 ns  \u2588");
	text_free(&text);
	latency_report_free(&r);
}

/* Innermost first, below the row that they are of, wherever that goes. */
static void prints_stacks(void **state)
{
	static const char with[] = HEAD "cli\tsti\t1\t64\t64\t64:1\n# stack\tfirst\tsecond one\n"
					"a\tb\t1\t65\t65\t64:1\n";
	struct latency_view view = {.rows = 2};
	struct latency_report r;
	struct text text = {0};
	unsigned int line;

	(void)state;
	assert_int_equal(read_text(&r, with, &line), 0);
	assert_string_equal(r.row[0].stack, "first\tsecond one");
	assert_null(r.row[1].stack);
	latency_report_sort(&r, LATENCY_MAX);
	render_latency(&r, &view, &text);
	text_putc(&text, '\0');
	assert_null(strstr(text.buf, "=>"));
	text.len = 0;
	view.stacks = true;
	render_latency(&r, &view, &text);
	text_putc(&text, '\0');
	assert_non_null(strstr(text.buf, "  cli -> sti\n             => first\n"
					 "             => second one\n"));
	text_free(&text);
	latency_report_free(&r);
	/* Of no row, twice of one, of nothing, and with what no name has. */
	assert_int_equal(read_text(&r, HEAD "# stack\ta\n", &line), -EINVAL);
	latency_report_free(&r);
	assert_int_equal(read_text(&r, HEAD ROWS "# stack\ta\n# stack\tb\n", &line), -EINVAL);
	latency_report_free(&r);
	assert_int_equal(read_text(&r, HEAD ROWS "# stack\t\n", &line), -EINVAL);
	latency_report_free(&r);
	assert_int_equal(read_text(&r, HEAD ROWS "# stack\t\x1b[2J\n", &line), -EINVAL);
	latency_report_free(&r);
}

static void draws_a_picture(void **state)
{
	struct latency_report r;
	struct text text = {0};

	(void)state;
	read_good(&r);
	strcpy(r.row[1].from, "<script>&\"");
	latency_report_sort(&r, LATENCY_MAX);
	render_latency_svg(&r, 2, "irqsoff of <b>", &text);
	expect_text(&text, ">irqsoff of &lt;b&gt;</text>");
	expect_text(&text, ">cli \u2192 sti</text>");
	expect_text(&text, ">&lt;script&gt;&amp;&quot; \u2192 unlock</text>");
	expect_text(&text, "<title>64 ns to 128 ns: 90</title>");
	expect_text(&text, "1,103 windows in 87.00 us, at most 5.00 us");
	/* All of them, first, and how many the highest column of it is. */
	expect_text(
		&text,
		"font-weight=\"bold\">all</text>\n<text x=\"14\" y=\"38\" fill=\"#666\">1,103 in "
		"87.00 us");
	expect_text(&text, "fill=\"#777\">90</text>");
	expect_text(&text, "</svg>\n");
	assert_null(strstr(text.buf, "<script"));
	text_free(&text);
	latency_report_free(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_figures),
		cmocka_unit_test(percentiles_are_ends_of_buckets),
		cmocka_unit_test(sorts),
		cmocka_unit_test(refuses_what_makes_no_sense),
		cmocka_unit_test(long_names_are_cut),
		cmocka_unit_test(prints_a_table),
		cmocka_unit_test(prints_stacks),
		cmocka_unit_test(draws_a_picture),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
