// SPDX-License-Identifier: GPL-2.0-or-later
/* test-digest.c - what is read of what commands print: of sound ones, of damaged ones, of hostile
 * ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "frontend/lib/json.h"
#include "frontend/serve/digest.h"
#include "frontend/session/summary.h"

static char path[64];

static int set_up(void **state)
{
	int fd;

	(void)state;
	strcpy(path, "/tmp/hvdigest.XXXXXX");
	fd = mkstemp(path);
	if (fd >= 0)
		close(fd);
	return fd < 0 ? -1 : 0;
}

static int tear_down(void **state)
{
	(void)state;
	return unlink(path);
}

static void write_file(const char *text, size_t len)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, len, f), len);
	assert_int_equal(fclose(f), 0);
}

static int summary_of(struct digest_summary *s, const char *text)
{
	write_file(text, strlen(text));
	return digest_summary(s, path);
}

/* --- summaries -----------------------------------------------------------------------------------
 */

static void put(struct json *j, void *arg)
{
	summary_put(arg, j);
}

/* As summary_put() writes it. */
static void test_real(void **state)
{
	static const struct trace_vcpu_status vcpu[] = {{.events = 90}, {.events = 10}};
	static const struct trace_status st = {.hits = 100, .lost = 13, .engine = "trampoline"};
	static const struct machine_pauses pauses = {
		.count = 3, .total_ns = 5000, .longest_ns = 4000, .longest_what = "attaching"};
	static const struct summary_file output = {
		.opened = true, .path = "a.dat", .recorded = true, .sized = true, .bytes = 12345};
	struct summary s = {
		.end = "time",
		.trace = &st,
		.vcpu = vcpu,
		.vcpus = 2,
		.pauses = &pauses,
		.output = &output,
		.reason = "the time is over",
		.seconds = 1.5,
	};
	struct digest_summary d;
	struct text t = {0};

	(void)state;
	json_to_text(put, &s, &t);
	text_putc(&t, '\0');
	assert_int_equal(summary_of(&d, t.buf), 0);
	text_free(&t);
	assert_string_equal(d.end, "time");
	assert_int_equal(d.lost, 13);
	assert_int_equal(d.stood_ns, 5000);
	assert_int_equal(d.longest_ns, 4000);
	assert_int_equal(d.vcpus, 2);
	assert_int_equal(d.bytes, 12345);
	assert_string_equal(d.reason, "the time is over");
	assert_true(d.seconds == 1.5);
}

static void test_kinds(void **state)
{
	struct digest_summary d;

	(void)state;
	assert_int_equal(summary_of(&d, "{}"), 0);
	assert_string_equal(d.end, "");
	assert_int_equal(d.records, 0);
	assert_int_equal(summary_of(&d, "{\"end\": 7, \"events\": -5, \"lost\": [1], \"cpus\": {}, "
					"\"standstill\": 4, \"output\": null, \"seconds\": {}}"),
			 0);
	assert_string_equal(d.end, "");
	assert_int_equal(d.records + d.lost + d.stood_ns + d.bytes + d.vcpus, 0);
	assert_true(d.seconds == 0);
	assert_int_equal(summary_of(&d, "{\"events\": 99999999999999999999999999}"), 0);
	assert_int_equal(d.records, INT64_MAX);
}

static void seconds_are(const char *text, double seconds)
{
	struct digest_summary d;
	char all[128];

	snprintf(all, sizeof(all), "{\"seconds\": %s}", text);
	assert_int_equal(summary_of(&d, all), 0);
	assert_true(d.seconds == seconds);
}

static void test_seconds(void **state)
{
	(void)state;
	seconds_are("0.25", 0.25);
	seconds_are("-1", 0);
	seconds_are("1e300", 0);
	seconds_are("1e999", 0);
	seconds_are("NaN", 0);
	seconds_are("Infinity", 0);
	seconds_are("\"12\"", 12);
}

static void test_long_texts(void **state)
{
	struct digest_summary d;
	char text[4096], *at = text + sprintf(text, "{\"release\": \"");

	(void)state;
	memset(at, 'r', 3000);
	strcpy(at + 3000, "\"}");
	assert_int_equal(summary_of(&d, text), 0);
	assert_int_equal(strlen(d.release), sizeof(d.release) - 1);
}

static void test_damaged(void **state)
{
	static const char *const texts[] = {
		"", "{", "[]", "7", "\"{}\"", "{\"end\": ", "{\"end\" 7}", "null", "\xff\xfe"};
	struct digest_summary d;

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		assert_int_equal(summary_of(&d, texts[i]), -EBADMSG);
	assert_int_equal(digest_summary(&d, "/nonexistent/summary"), -ENOENT);
	assert_int_equal(digest_summary(&d, "/dev/zero"), -EINVAL);
}

/* Deeper than any command writes it, and larger. */
static void test_bounds(void **state)
{
	struct digest_summary d;
	char *text = malloc(33 << 20);

	(void)state;
	assert_non_null(text);
	memset(text, '[', 100000);
	write_file(text, 100000);
	assert_int_equal(digest_summary(&d, path), -EBADMSG);
	memset(text, ' ', 33 << 20);
	text[0] = '{';
	text[(33 << 20) - 1] = '}';
	write_file(text, 33 << 20);
	assert_int_equal(digest_summary(&d, path), -EFBIG);
	free(text);
}

/* --- rows
 * ------------------------------------------------------------------------------------------ */

struct told {
	unsigned int rows, all;
	struct digest_row last;
};

static void note(void *arg, const struct digest_row *row, bool all)
{
	struct told *t = arg;

	t->rows += !all;
	t->all += all;
	t->last = *row;
}

static int rows_of(struct told *t, const char *text)
{
	*t = (struct told){0};
	write_file(text, strlen(text));
	return digest_rows(path, note, t);
}

static unsigned int bucket_at(uint64_t begin)
{
	for (unsigned int i = 0; i < LATENCY_REPORT_BUCKETS; i++)
		if (latency_bucket_begin(i) == begin)
			return i;
	fail_msg("no bucket begins at %d", (int)begin);
	return 0;
}

static void test_rows(void **state)
{
	struct told t;

	(void)state;
	assert_int_equal(
		rows_of(&t,
			"{\"rows\": [{\"name\": \"read\", \"count\": 2}, 7, {}], \"all\": {\"name\": "
			"\"all\", \"count\": 3, \"errors\": 1, \"total_ns\": 30, \"max_ns\": 20, "
			"\"histogram\": [[1024, 2], [2048, 1], [18446744073709551615, 5], 3, [1]]}}"),
		0);
	assert_int_equal(t.rows, 2);
	assert_int_equal(t.all, 1);
	assert_string_equal(t.last.name, "all");
	assert_int_equal(t.last.count, 3);
	assert_int_equal(t.last.errors, 1);
	assert_int_equal(t.last.total_ns, 30);
	assert_int_equal(t.last.max_ns, 20);
	assert_int_equal(t.last.bucket[bucket_at(1024)], 2);
	assert_int_equal(t.last.bucket[bucket_at(2048)], 1);
	assert_int_equal(t.last.bucket[0], 0);
}

static void test_no_rows(void **state)
{
	struct told t;

	(void)state;
	assert_int_equal(rows_of(&t, "{\"rows\": [], \"all\": {}}"), 0);
	assert_int_equal(t.all, 1);
	assert_int_equal(rows_of(&t, "{\"rows\": {}, \"all\": {}}"), -EBADMSG);
	assert_int_equal(rows_of(&t, "{\"rows\": []}"), -EBADMSG);
	assert_int_equal(rows_of(&t, ""), -EBADMSG);
	assert_int_equal(t.rows + t.all, 0);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(test_real),    TEST(test_kinds),  TEST(test_seconds), TEST(test_long_texts),
		TEST(test_damaged), TEST(test_bounds), TEST(test_rows),	   TEST(test_no_rows),
	};

	return cmocka_run_group_tests_name("digest", tests, NULL, NULL);
}
