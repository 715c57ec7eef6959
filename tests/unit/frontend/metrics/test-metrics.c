// SPDX-License-Identifier: GPL-2.0-or-later
/* test-metrics.c - what is told in both formats, and that nobody can make it grow. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/metrics/metrics.h"

#define LABELS(...) (&(const struct metrics_labels){__VA_ARGS__})

static const char build_text[] = "# HELP hvtrace_build_info Which hvtrace this is: 1.\n"
				 "# TYPE hvtrace_build_info gauge\n"
				 "hvtrace_build_info{version=\"" HVTRACE_VERSION "\"} 1\n";

static char *printed(struct metrics *m, enum metrics_format format)
{
	struct text t = {0};

	metrics_print(m, format, &t);
	text_putc(&t, '\0');
	assert_false(t.failed);
	return t.buf;
}

static struct metrics *new_set(void)
{
	struct metrics *m = metrics_new();

	assert_non_null(m);
	return m;
}

/* What comes behind `name ` in the text; it is there once. */
static double value_of(struct metrics *m, const char *name)
{
	char *text = printed(m, METRICS_TEXT), key[600], *at;
	double value;

	snprintf(key, sizeof(key), "\n%s ", name);
	at = strstr(text, key);
	if (!at || strstr(at + 1, key))
		fail_msg("no %s, or two, in\n%s", name, text);
	value = strtod(at ? at + strlen(key) : "", NULL);
	free(text);
	return value;
}

static size_t count_of(struct metrics *m, const char *what)
{
	char *text = printed(m, METRICS_TEXT);
	size_t n = 0;

	for (const char *at = text; (at = strstr(at, what)); at++)
		n++;
	free(text);
	return n;
}

/* --- formats -------------------------------------------------------------------------------- */

static struct metrics *few(void)
{
	struct metrics *m = new_set();
	struct latency_row row = {.count = 0};

	metrics_set(m, METRICS_GUEST_INFO,
		    LABELS(.guest = "web", .uuid = "u-1", .kernel = "6.1.0-9"), 1);
	metrics_add(m, METRICS_VCPU_STEAL, LABELS(.guest = "web", .vcpu = "1"), 0.1);
	metrics_add(m, METRICS_VCPU_STEAL, LABELS(.guest = "web", .vcpu = "0"), 2);
	metrics_add(m, METRICS_VCPU_STEAL, LABELS(.guest = "web", .vcpu = "1"), 0.25);
	metrics_set(m, METRICS_DISK_FREE, NULL, 1e12);
	latency_add(&row, 1023);
	latency_add(&row, 1024);
	latency_add(&row, 40000000000);
	metrics_observe_many(m, METRICS_IRQS_OFF, LABELS(.guest = "web", .rule = "r"), row.bucket,
			     row.total);
	return m;
}

#define BUCKET "hvtrace_irqs_off_seconds_bucket{guest=\"web\",rule=\"r\",le=\""

static const char few_buckets[] =
	BUCKET "0.000001023\"} 1\n" BUCKET "0.000002047\"} 2\n" BUCKET "0.000004095\"} 2\n" BUCKET
	       "0.000008191\"} 2\n" BUCKET "0.000016383\"} 2\n" BUCKET "0.000032767\"} 2\n" BUCKET
	       "0.000065535\"} 2\n" BUCKET "0.000131071\"} 2\n" BUCKET "0.000262143\"} 2\n" BUCKET
	       "0.000524287\"} 2\n" BUCKET "0.001048575\"} 2\n" BUCKET "0.002097151\"} 2\n" BUCKET
	       "0.004194303\"} 2\n" BUCKET "0.008388607\"} 2\n" BUCKET "0.016777215\"} 2\n" BUCKET
	       "0.033554431\"} 2\n" BUCKET "0.067108863\"} 2\n" BUCKET "0.134217727\"} 2\n" BUCKET
	       "0.268435455\"} 2\n" BUCKET "0.536870911\"} 2\n" BUCKET "1.073741823\"} 2\n" BUCKET
	       "2.147483647\"} 2\n" BUCKET "4.294967295\"} 2\n" BUCKET "8.589934591\"} 2\n" BUCKET
	       "17.179869183\"} 2\n" BUCKET "34.359738367\"} 2\n" BUCKET "+Inf\"} 3\n"
	       "hvtrace_irqs_off_seconds_sum{guest=\"web\",rule=\"r\"} 40.000002047\n"
	       "hvtrace_irqs_off_seconds_count{guest=\"web\",rule=\"r\"} 3\n";

static void test_text(void **state)
{
	struct metrics *m = few();
	char *text = printed(m, METRICS_TEXT);
	struct text all = {0};

	(void)state;
	text_puts(&all, "# HELP hvtrace_guest_info What a guest is: 1.\n"
			"# TYPE hvtrace_guest_info gauge\n"
			"hvtrace_guest_info{guest=\"web\",uuid=\"u-1\",kernel=\"6.1.0-9\"} 1\n"
			"# HELP hvtrace_vcpu_steal_seconds_total Time that a vCPU could have run "
			"and the host did not let it.\n"
			"# TYPE hvtrace_vcpu_steal_seconds_total counter\n"
			"hvtrace_vcpu_steal_seconds_total{guest=\"web\",vcpu=\"0\"} 2\n"
			"hvtrace_vcpu_steal_seconds_total{guest=\"web\",vcpu=\"1\"} 0.35\n"
			"# HELP hvtrace_irqs_off_seconds How long a guest's kernel had interrupts "
			"off at a time.\n"
			"# TYPE hvtrace_irqs_off_seconds histogram\n");
	text_puts(&all, few_buckets);
	text_puts(&all, "# HELP hvtrace_disk_free_bytes What is left of the file system where "
			"recordings are.\n"
			"# TYPE hvtrace_disk_free_bytes gauge\n"
			"hvtrace_disk_free_bytes 1000000000000\n");
	text_puts(&all, build_text);
	text_puts(&all, "# HELP hvtrace_left_out_samples_total Numbers that are in none of these: "
			"there are too many sets of labels.\n"
			"# TYPE hvtrace_left_out_samples_total counter\n"
			"hvtrace_left_out_samples_total 0\n");
	text_putc(&all, '\0');
	assert_string_equal(text, all.buf);
	text_free(&all);
	free(text);
	metrics_free(m);
}

static void test_openmetrics(void **state)
{
	struct metrics *m = few();
	char *text = printed(m, METRICS_OPENMETRICS), *at;

	(void)state;
	assert_non_null(strstr(text, "# TYPE hvtrace_guest info\nhvtrace_guest_info{"));
	assert_non_null(strstr(text, "# TYPE hvtrace_vcpu_steal_seconds counter\n"
				     "# UNIT hvtrace_vcpu_steal_seconds seconds\n"
				     "hvtrace_vcpu_steal_seconds_total{"));
	assert_non_null(strstr(text, few_buckets));
	assert_non_null(strstr(text, "# TYPE hvtrace_build info\nhvtrace_build_info{"));
	assert_non_null(strstr(text, "# TYPE hvtrace_left_out_samples counter\n"
				     "hvtrace_left_out_samples_total 0\n"));
	at = strstr(text, "# EOF\n");
	assert_non_null(at);
	assert_int_equal(at[6], '\0');
	free(text);
	metrics_free(m);
}

static void test_numbers(void **state)
{
	static const struct {
		double value;
		const char *text;
	} cases[] = {
		{0, "0"},
		{-1, "-1"},
		{0.1, "0.1"},
		{1.0 / 3, "0.3333333333333333"},
		{9007199254740991.0, "9007199254740991"},
		{1e300, "1e+300"},
		{1754700000.125, "1754700000.125"},
		{NAN, "NaN"},
		{INFINITY, "+Inf"},
		{-INFINITY, "-Inf"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct metrics *m = new_set();
		char line[64], *text;

		metrics_set(m, METRICS_RULES, NULL, cases[i].value);
		text = printed(m, METRICS_TEXT);
		snprintf(line, sizeof(line), "\nhvtrace_rules %s\n", cases[i].text);
		if (!strstr(text, line))
			fail_msg("no%sin\n%s", line, text);
		free(text);
		metrics_free(m);
	}
}

/* Names as both formats and Prometheus' conventions want them. */
static void test_families(void **state)
{
	(void)state;
	for (unsigned int f = 0; f < METRICS_FAMILIES; f++) {
		const struct metrics_about *a = metrics_about(f);
		size_t len;

		assert_non_null(a->name);
		len = strlen(a->name);
		assert_int_equal(strncmp(a->name, "hvtrace_", 8), 0);
		assert_int_equal(strspn(a->name, "abcdefghijklmnopqrstuvwxyz_"), len);
		assert_null(strstr(a->name, "_total"));
		assert_null(strpbrk(a->help, "\\\n\""));
		assert_int_equal(a->help[strlen(a->help) - 1], '.');
		assert_true(a->sets > 0);
		if (a->unit) {
			assert_true(len > strlen(a->unit) + 1);
			assert_string_equal(a->name + len - strlen(a->unit), a->unit);
			assert_int_equal(a->name[len - strlen(a->unit) - 1], '_');
		}
		if (a->type == METRICS_HISTOGRAM)
			assert_true(a->first < a->last && a->last < LATENCY_REPORT_BUCKETS - 1);
		else
			assert_int_equal(a->last, 0);
		for (unsigned int g = 0; g < f; g++)
			assert_string_not_equal(a->name, metrics_about(g)->name);
	}
}

/* --- labels --------------------------------------------------------------------------------- */

static void test_escapes(void **state)
{
	static const struct {
		const char *name, *label;
	} cases[] = {
		{"a\"} 1\nx{y=\"", "a\\\"} 1\\nx{y=\\\""},
		{"back\\slash", "back\\\\slash"},
		{"\xc3\xa9\xe2\x82\xac", "\xc3\xa9\xe2\x82\xac"},
		{"\xff\xc3", "\\\\xff\\\\xc3"},
		{"\x1b[31mred\r", "\\\\x1b[31mred\\\\x0d"},
		{"\xed\xa0\x80", "\\\\xed\\\\xa0\\\\x80"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct metrics *m = new_set();
		char name[200];

		metrics_set(m, METRICS_GUEST_UP, LABELS(.guest = cases[i].name), 7);
		snprintf(name, sizeof(name), "hvtrace_guest_up{guest=\"%s\"}", cases[i].label);
		assert_true(value_of(m, name) == 7);
		metrics_forget(m, METRICS_FAMILIES, cases[i].name);
		assert_int_equal(count_of(m, "hvtrace_guest_up"), 0);
		metrics_free(m);
	}
}

/* Names that are too long are cut, in the midst of a character too. */
static void test_long(void **state)
{
	struct metrics *m = new_set();
	char name[METRICS_VALUE_MAX + 50], cut[METRICS_VALUE_MAX + 60];

	(void)state;
	memset(name, 'x', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	memcpy(name + METRICS_VALUE_MAX - 1, "\xc3\xa9", 2);
	metrics_add(m, METRICS_GUEST_REBOOTS, LABELS(.guest = name), 1);
	strcpy(name + METRICS_VALUE_MAX - 1, "\xc3\xa8");
	metrics_add(m, METRICS_GUEST_REBOOTS, LABELS(.guest = name), 1);
	snprintf(cut, sizeof(cut), "hvtrace_guest_reboots_total{guest=\"%.*s\\\\xc3\"}",
		 METRICS_VALUE_MAX - 1, name);
	assert_true(value_of(m, cut) == 2);
	metrics_free(m);
}

/* Labels that a family has not are not looked at, and those that say nothing are not there. */
static void test_labels(void **state)
{
	struct metrics *m = new_set();

	(void)state;
	metrics_set(m, METRICS_DISK, LABELS(.guest = "g", .rule = "r"), 1);
	metrics_set(m, METRICS_DISK, LABELS(.rule = ""), 2);
	metrics_set(m, METRICS_DISK, NULL, 3);
	assert_true(value_of(m, "hvtrace_disk_bytes{rule=\"r\"}") == 1);
	assert_true(value_of(m, "hvtrace_disk_bytes") == 3);
	assert_int_equal(count_of(m, "\nhvtrace_disk_bytes"), 2);
	metrics_free(m);
}

static void test_forget(void **state)
{
	static const char *const guests[] = {"a", "ab", "a\"", "a,"};
	struct metrics *m = new_set();

	(void)state;
	for (size_t i = 0; i < 4; i++)
		for (int vcpu = 0; vcpu < 3; vcpu++) {
			char number[2] = {(char)('0' + vcpu), '\0'};

			metrics_add(m, METRICS_VCPU_STEAL,
				    LABELS(.guest = guests[i], .vcpu = number), 1);
			metrics_set(m, METRICS_GUEST_UP, LABELS(.guest = guests[i]), 1);
		}
	metrics_set(m, METRICS_RULES, NULL, 1);
	metrics_forget(m, METRICS_GUEST_UP, "ab");
	assert_int_equal(count_of(m, "\nhvtrace_guest_up{"), 3);
	assert_int_equal(count_of(m, "\nhvtrace_vcpu_steal_seconds_total{"), 12);
	metrics_forget(m, METRICS_FAMILIES, "a");
	metrics_forget(m, METRICS_FAMILIES, "nobody");
	assert_int_equal(count_of(m, "\nhvtrace_guest_up{"), 2);
	assert_int_equal(count_of(m, "\nhvtrace_vcpu_steal_seconds_total{"), 9);
	assert_int_equal(count_of(m, "guest=\"a\""), 0);
	assert_true(value_of(m, "hvtrace_rules") == 1);
	metrics_free(m);
}

/* --- bounds --------------------------------------------------------------------------------- */

static void test_counters(void **state)
{
	struct metrics *m = new_set();
	const struct metrics_labels *web = LABELS(.guest = "web");

	(void)state;
	metrics_add(m, METRICS_GUEST_PANICS, web, 3);
	metrics_add(m, METRICS_GUEST_PANICS, web, -1);
	metrics_add(m, METRICS_GUEST_PANICS, web, NAN);
	metrics_add(m, METRICS_GUEST_PANICS, web, INFINITY);
	metrics_add(m, METRICS_GUEST_PANICS, web, 0);
	assert_true(value_of(m, "hvtrace_guest_panics_total{guest=\"web\"}") == 3);
	metrics_free(m);
}

/* Those that are there go on; what there is no room for is counted, until others have gone. */
static void test_room(void **state)
{
	struct metrics *m = new_set();
	unsigned int sets = metrics_about(METRICS_GUEST_UP)->sets;
	char name[16];

	(void)state;
	for (unsigned int i = 0; i < sets + 10; i++) {
		snprintf(name, sizeof(name), "g%u", i);
		metrics_set(m, METRICS_GUEST_UP, LABELS(.guest = name), 1);
	}
	metrics_set(m, METRICS_GUEST_UP, LABELS(.guest = "g5"), 2);
	assert_int_equal(count_of(m, "\nhvtrace_guest_up{"), sets);
	assert_true(value_of(m, "hvtrace_guest_up{guest=\"g5\"}") == 2);
	assert_true(value_of(m, "hvtrace_left_out_samples_total") == 10);
	metrics_forget(m, METRICS_FAMILIES, "g7");
	metrics_set(m, METRICS_GUEST_UP, LABELS(.guest = name), 1);
	metrics_set(m, METRICS_GUEST_REBOOTS, LABELS(.guest = name), 1);
	assert_int_equal(count_of(m, "\nhvtrace_guest_up{"), sets);
	assert_true(value_of(m, "hvtrace_left_out_samples_total") == 10);
	metrics_free(m);
}

static void test_syscalls(void **state)
{
	struct metrics *m = new_set();
	struct latency_row row = {.count = 0};
	char name[16];

	(void)state;
	latency_add(&row, 5000);
	for (int i = 0; i < 100; i++) {
		snprintf(name, sizeof(name), "call%d", i);
		for (int guest = 0; guest < 2; guest++) {
			const struct metrics_labels *labels =
				LABELS(.guest = guest ? "a" : "b", .rule = "r", .syscall = name);

			metrics_observe_many(m, METRICS_SYSCALL_LATENCY, labels, row.bucket,
					     row.total);
			metrics_add(m, METRICS_SYSCALL_ERRORS, labels, 1);
		}
	}
	assert_int_equal(count_of(m, "_count{guest=\"a\""), METRICS_SYSCALLS_MAX);
	assert_int_equal(count_of(m, "\nhvtrace_syscall_errors_total{guest=\"b\""),
			 METRICS_SYSCALLS_MAX);
	assert_true(value_of(m, "hvtrace_syscall_latency_seconds_count{guest=\"a\",rule=\"r\","
				"syscall=\"other\"}") == 100 - METRICS_SYSCALLS_MAX + 1);
	assert_true(value_of(m, "hvtrace_syscall_errors_total{guest=\"b\",rule=\"r\","
				"syscall=\"call7\"}") == 1);
	metrics_free(m);
}

/* As many rules as a configuration may have, and what system calls take of 300 guests. */
static void test_many(void **state)
{
	struct metrics *m = new_set();
	uint64_t bucket[LATENCY_REPORT_BUCKETS] = {[12] = 1};
	char guest[16], call[16];

	(void)state;
	metrics_set(m, METRICS_DISK, NULL, 1);
	for (int i = 0; i < 256; i++) {
		snprintf(call, sizeof(call), "rule%d", i);
		metrics_set(m, METRICS_DISK, LABELS(.rule = call), 1);
		metrics_set(m, METRICS_OVERHEAD_BUDGET, LABELS(.rule = call), 1);
	}
	for (int i = 0; i < 300 * METRICS_SYSCALLS_MAX; i++) {
		snprintf(guest, sizeof(guest), "g%d", i / METRICS_SYSCALLS_MAX);
		snprintf(call, sizeof(call), "call%d", i % METRICS_SYSCALLS_MAX);
		metrics_observe_many(m, METRICS_SYSCALL_LATENCY,
				     LABELS(.guest = guest, .rule = "r", .syscall = call), bucket,
				     1);
		metrics_add(m, METRICS_SYSCALL_ERRORS,
			    LABELS(.guest = guest, .rule = "r", .syscall = call), 1);
	}
	assert_true(value_of(m, "hvtrace_left_out_samples_total") == 0);
	metrics_free(m);
}

/* What gauges say of it, and of no other. */
static void test_forget_rule(void **state)
{
	static const char *const rules[] = {"a", "b-a", "ab"};
	struct metrics *m = new_set();

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		metrics_set(m, METRICS_DISK, LABELS(.rule = rules[i]), 1);
		metrics_set(m, METRICS_BACKOFF, LABELS(.guest = "g", .rule = rules[i]), 1);
		metrics_set(m, METRICS_BACKOFF, LABELS(.guest = ",rule=\"a\"", .rule = rules[i]),
			    1);
		metrics_add(m, METRICS_RECORDS, LABELS(.guest = "g", .rule = rules[i]), 1);
	}
	metrics_set(m, METRICS_GUEST_UP, LABELS(.guest = "rule=\"a\""), 1);
	metrics_set(m, METRICS_DISK, NULL, 1);
	metrics_forget_rule(m, "a");
	assert_int_equal(count_of(m, "\nhvtrace_disk_bytes"), 3);
	assert_int_equal(count_of(m, "\nhvtrace_disk_bytes{rule=\"a\"}"), 0);
	assert_int_equal(count_of(m, "\nhvtrace_backoff_seconds{"), 4);
	assert_int_equal(count_of(m, "\nhvtrace_backoff_seconds{guest=\"g\",rule=\"a\"}"), 0);
	assert_int_equal(count_of(m, "\nhvtrace_records_total{"), 3);
	assert_int_equal(count_of(m, "\nhvtrace_guest_up{"), 1);
	metrics_forget_rule(m, "");
	assert_int_equal(count_of(m, "\nhvtrace_disk_bytes"), 3);
	metrics_free(m);
}

/* --- as hvtrace latency has them ------------------------------------------------------------- */

/* Each bucket up to its end, as it is in the row, and count and sum. */
static void test_same_as_rows(void **state)
{
	struct metrics *m = new_set();
	const struct metrics_about *a = metrics_about(METRICS_WAKEUP_LATENCY);
	const struct metrics_labels *labels = LABELS(.guest = "g", .rule = "r");
	struct latency_row row = {.count = 0};
	uint64_t x = 1, sum = 0;
	char name[200], le[48];
	int len;

	(void)state;
	for (int i = 0; i < 20000; i++) {
		x = x * 6364136223846793005 + 1442695040888963407;
		latency_add(&row, (x >> 20) >> (x % 44));
	}
	/* In two, as windows come. */
	metrics_observe_many(m, METRICS_WAKEUP_LATENCY, labels, row.bucket, row.total);
	metrics_observe_many(m, METRICS_WAKEUP_LATENCY, labels, row.bucket, row.total);
	for (unsigned int b = 0; b <= a->last; b++) {
		uint64_t end = latency_bucket_begin(b + 1) - 1;

		sum += row.bucket[b];
		if (b < a->first)
			continue;
		len = snprintf(le, sizeof(le), "%" PRIu64 ".%09" PRIu64, end / 1000000000,
			       end % 1000000000);
		while (le[len - 1] == '0')
			len--;
		snprintf(
			name, sizeof(name),
			"hvtrace_wakeup_latency_seconds_bucket{guest=\"g\",rule=\"r\",le=\"%.*s\"}",
			len, le);
		assert_true(value_of(m, name) == 2 * (double)sum);
	}
	assert_true(value_of(m, "hvtrace_wakeup_latency_seconds_count{guest=\"g\",rule=\"r\"}") ==
		    2 * (double)row.count);
	assert_true(fabs(value_of(m, "hvtrace_wakeup_latency_seconds_sum{guest=\"g\",rule=\"r\"}") -
			 2 * (double)row.total / 1e9) < 1e-6);
	metrics_free(m);
}

static void test_saturates(void **state)
{
	struct metrics *m = new_set();
	uint64_t bucket[LATENCY_REPORT_BUCKETS] = {[20] = UINT64_MAX};

	(void)state;
	for (int i = 0; i < 2; i++)
		metrics_observe_many(m, METRICS_IRQS_OFF, LABELS(.guest = "g"), bucket, UINT64_MAX);
	assert_true(value_of(m, "hvtrace_irqs_off_seconds_count{guest=\"g\"}") == 0x1p64);
	assert_true(value_of(m, "hvtrace_irqs_off_seconds_sum{guest=\"g\"}") ==
		    18446744073.709551615);
	metrics_free(m);
}

/* --- threads -------------------------------------------------------------------------------- */

enum { WRITERS = 4, TIMES = 500 };

static void *write_some(void *arg)
{
	uint64_t bucket[LATENCY_REPORT_BUCKETS] = {[12] = 1};

	for (int i = 0; i < TIMES; i++) {
		char name[16];

		snprintf(name, sizeof(name), "g%d", i % 20);
		metrics_add(arg, METRICS_RECORDS, LABELS(.guest = "all"), 1);
		metrics_set(arg, METRICS_GUEST_UP, LABELS(.guest = name), i);
		metrics_observe_many(arg, METRICS_IRQS_OFF, LABELS(.guest = "all"), bucket, 1);
		metrics_forget(arg, METRICS_FAMILIES, name);
	}
	return NULL;
}

static void test_threads(void **state)
{
	struct metrics *m = new_set();
	pthread_t thread[WRITERS];

	(void)state;
	for (int i = 0; i < WRITERS; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, write_some, m), 0);
	for (int i = 0; i < 50; i++)
		free(printed(m, i % 2));
	for (int i = 0; i < WRITERS; i++)
		pthread_join(thread[i], NULL);
	assert_true(value_of(m, "hvtrace_records_total{guest=\"all\"}") == WRITERS * TIMES);
	assert_true(value_of(m, "hvtrace_irqs_off_seconds_count{guest=\"all\"}") ==
		    WRITERS * TIMES);
	assert_int_equal(count_of(m, "hvtrace_guest_up"), 0);
	metrics_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text),	    cmocka_unit_test(test_openmetrics),
		cmocka_unit_test(test_numbers),	    cmocka_unit_test(test_families),
		cmocka_unit_test(test_escapes),	    cmocka_unit_test(test_long),
		cmocka_unit_test(test_labels),	    cmocka_unit_test(test_forget),
		cmocka_unit_test(test_counters),    cmocka_unit_test(test_room),
		cmocka_unit_test(test_syscalls),    cmocka_unit_test(test_many),
		cmocka_unit_test(test_forget_rule), cmocka_unit_test(test_same_as_rows),
		cmocka_unit_test(test_saturates),   cmocka_unit_test(test_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
