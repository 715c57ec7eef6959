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

static void written(void (*put)(struct json *j, void *arg), const char *expected)
{
	struct text t = {0};

	json_to_text(put, NULL, &t);
	text_putc(&t, '\0');
	assert_false(t.failed);
	assert_string_equal(t.buf, expected);
	text_free(&t);
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
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_documents),
		cmocka_unit_test(test_hostile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
