// SPDX-License-Identifier: GPL-2.0-or-later
/* test-json.c - documents of JSON, with names of anybody's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "frontend/lib/json.h"

static void written_by(void (*put)(struct json *j, void *arg), void *arg, const char *expected)
{
	struct text t = {0};

	json_to_text(put, arg, &t);
	text_putc(&t, '\0');
	assert_false(t.failed);
	assert_string_equal(t.buf, expected);
	text_free(&t);
}

static void written(void (*put)(struct json *j, void *arg), const char *expected)
{
	written_by(put, NULL, expected);
}

static void put_all(struct json *j, void *arg)
{
	(void)arg;
	json_begin_object(j, NULL);
	json_put_number(j, "most", UINT64_MAX);
	json_put_real(j, "real", 1.25, 2);
	json_put_real(j, "none", NAN, 1);
	json_put_real(j, "all", INFINITY, 0);
	json_put_bool(j, "yes", true);
	json_put_null(j, "null");
	json_put_text(j, "nobody", NULL);
	json_put_address(j, "address", 0xffffffff81000000);
	json_begin_array(j, "a");
	json_put_number(j, NULL, 1);
	json_begin_object(j, NULL);
	json_end_object(j);
	json_begin_array(j, NULL);
	json_put_text(j, NULL, "x");
	json_put_bool(j, NULL, false);
	json_end_array(j);
	json_end_array(j);
	json_put_number(j, "last", 0);
	json_end_object(j);
}

static void test_values(void **state)
{
	(void)state;
	written(put_all, "{\n"
			 "  \"most\": 18446744073709551615,\n"
			 "  \"real\": 1.25,\n"
			 "  \"none\": 0.0,\n"
			 "  \"all\": 0,\n"
			 "  \"yes\": true,\n"
			 "  \"null\": null,\n"
			 "  \"nobody\": null,\n"
			 "  \"address\": \"0xffffffff81000000\",\n"
			 "  \"a\": [1, {}, [\"x\", false]],\n"
			 "  \"last\": 0\n"
			 "}\n");
}

/* Rows, in what is compact and what is not, and numbers. */
static void put_rows(struct json *j, void *arg)
{
	const bool *compact = arg;

	j->compact = *compact;
	json_begin_object(j, NULL);
	json_begin_rows(j, "rows");
	json_begin_object(j, NULL);
	json_put_signed(j, "least", INT64_MIN);
	json_put_signed(j, "most", INT64_MAX);
	json_begin_rows(j, "more");
	json_put_signed(j, NULL, -1);
	json_put_number(j, NULL, 0);
	json_end_array(j);
	json_end_object(j);
	json_put_fixed(j, NULL, 0, 3);
	json_put_fixed(j, NULL, 1234, 3);
	json_put_fixed(j, NULL, UINT64_MAX, 19);
	json_end_array(j);
	json_begin_rows(j, "none");
	json_end_array(j);
	json_begin_array(j, "a");
	json_put_string(j, NULL, "x\0y", 3);
	json_put_null(j, NULL);
	json_end_array(j);
	json_end_object(j);
}

static void test_rows(void **state)
{
	static const char lines[] = "{\n"
				    "  \"rows\": [\n"
				    "    {\"least\": -9223372036854775808, "
				    "\"most\": 9223372036854775807, \"more\": [\n"
				    "        -1,\n"
				    "        0\n"
				    "      ]},\n"
				    "    0.000,\n"
				    "    1.234,\n"
				    "    1.8446744073709551615\n"
				    "  ],\n"
				    "  \"none\": [],\n"
				    "  \"a\": [\"x\\u0000y\", null]\n"
				    "}\n";
	static const char compact[] = "{\"rows\":[\n"
				      "{\"least\":-9223372036854775808,"
				      "\"most\":9223372036854775807,\"more\":[\n"
				      "-1,\n"
				      "0\n"
				      "]},\n"
				      "0.000,\n"
				      "1.234,\n"
				      "1.8446744073709551615\n"
				      "],\"none\":[\n],\"a\":[\"x\\u0000y\",null]}\n";
	bool is_compact = false;

	(void)state;
	written_by(put_rows, &is_compact, lines);
	is_compact = true;
	written_by(put_rows, &is_compact, compact);
}

/* Deeper than rows go: what is there is in one line. */
static void put_deep(struct json *j, void *arg)
{
	(void)arg;
	for (unsigned int i = 0; i < 70; i++)
		json_begin_array(j, NULL);
	json_begin_rows(j, NULL);
	json_put_null(j, NULL);
	json_put_null(j, NULL);
	for (unsigned int i = 0; i <= 70; i++)
		json_end_array(j);
}

static void test_depth(void **state)
{
	char expected[256] = "[\n  ";

	(void)state;
	memset(expected + strlen(expected), '[', 70);
	strcat(expected, "null, null");
	memset(expected + strlen(expected), ']', 70);
	strcat(expected, "\n]\n");
	written(put_deep, expected);
}

/* Two documents, the first with nothing in it. */
static void put_two(struct json *j, void *arg)
{
	(void)arg;
	json_begin_array(j, NULL);
	json_end_array(j);
	json_begin_array(j, NULL);
	json_put_null(j, NULL);
	json_end_array(j);
}

static void test_documents(void **state)
{
	(void)state;
	written(put_two, "[]\n[\n  null\n]\n");
}

static void put_hostile(struct json *j, void *arg)
{
	(void)arg;
	json_begin_object(j, NULL);
	json_put_text(j, "\"k\\\n", "\",\"x\":[\033]0;t\007\177");
	json_put_text(j, "bytes", "caf\xc3\xa9 \xff\xed\xa0\x80\xe2\x82");
	json_end_object(j);
}

static void test_hostile(void **state)
{
	(void)state;
	written(put_hostile,
		"{\n"
		"  \"\\\"k\\\\\\u000a\": \"\\\",\\\"x\\\":[\\u001b]0;t\\u0007\\u007f\",\n"
		"  \"bytes\": \"caf\xc3\xa9 \\u00ff\\u00ed\\u00a0\\u0080\\u00e2\\u0082\"\n"
		"}\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),	cmocka_unit_test(test_rows),
		cmocka_unit_test(test_depth),	cmocka_unit_test(test_documents),
		cmocka_unit_test(test_hostile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
