// SPDX-License-Identifier: GPL-2.0-or-later
/* test-event-format.c - format files as Linux 6.1.192 has them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "tests/unit/event-formats.h"
#include "tracer/events/filter/format.h"

static void expect_same(const char *name)
{
	struct formats *formats = formats_load(name);
	char *want = formats_text(name, NULL);
	struct text t = {0};

	for (size_t i = 0; i < formats->list.n; i++)
		event_format_print(&t,
				   &(struct event_format){&formats->event[i], formats->list.common,
							  formats->list.nr_common});
	text_putc(&t, '\0');
	assert_false(t.failed);
	assert_string_equal(t.buf, want);
	text_free(&t);
	free(want);
	formats_free(formats);
}

/* Arrays with and without a length, dynamic ones; formats of several lines. */
static void test_formats(void **state)
{
	(void)state;
	expect_same("formats-used.txt");
	expect_same("formats-all.txt.gz");
}

/* Of dynamic arrays the brackets stay with the type, of relative ones they do not. */
static void test_brackets(void **state)
{
	static const struct guestsym_event_field fields[] = {
		{"__data_loc char[]", "where", 8, 4, false, GUESTSYM_EVENT_DYN_STRING},
		{"__rel_loc char[]", "there", 12, 4, false, GUESTSYM_EVENT_RDYN_STRING},
		{"char[]", "buf", 16, 0, true, GUESTSYM_EVENT_STRING},
		{"u8[6]", "addr", 16, 6, false, GUESTSYM_EVENT_NUMBER},
	};
	const struct guestsym_event ev = {
		.name = "made", .id = 7, .fields = fields, .nr_fields = 4, .print_fmt = "\"\""};
	struct text t = {0};

	(void)state;
	event_format_print(&t, &(struct event_format){.event = &ev});
	text_putc(&t, '\0');
	assert_string_equal(t.buf,
			    "name: made\nID: 7\nformat:\n\n"
			    "\tfield:__data_loc char[] where;\toffset:8;\tsize:4;\tsigned:0;\n"
			    "\tfield:__rel_loc char there[];\toffset:12;\tsize:4;\tsigned:0;\n"
			    "\tfield:char buf[];\toffset:16;\tsize:0;\tsigned:1;\n"
			    "\tfield:u8 addr[6];\toffset:16;\tsize:6;\tsigned:0;\n"
			    "\nprint fmt: \"\"\n");
	text_free(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_formats),
		cmocka_unit_test(test_brackets),
	};

	return cmocka_run_group_tests_name("event-format", tests, NULL, NULL);
}
