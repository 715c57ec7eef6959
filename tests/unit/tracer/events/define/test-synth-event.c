// SPDX-License-Identifier: GPL-2.0-or-later
/* test-synth-event.c - lines of synthetic_events: errors, formats and records as in kernel 6.1. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/unit/made-events.h"
#include "tracer/events/filter/format.h"
#include "tracer/events/define/synth.h"

static struct synth_event *define(const char *line)
{
	struct synth_command command;
	struct synth_error err;

	if (synth_command_parse(NULL, line, &command, &err))
		fail_msg("%s: %s", line, err.what);
	assert_non_null(command.event);
	assert_null(command.gone);
	return command.event;
}

static void expect_text(struct text *text, const char *want)
{
	text_putc(text, '\0');
	assert_string_equal(text->buf, want);
	text_free(text);
}

/* control/synthetic-events-wakeup_latency.txt */
static void test_format(void **state)
{
	struct synth_event *se = define("  wakeup_latency u64 lat; pid_t pid; char comm[16]");
	struct probe_event_made made;
	struct event_format format;
	struct text text = {0};

	(void)state;
	synth_event_print(se, &text);
	expect_text(&text, "wakeup_latency\tu64 lat; pid_t pid; char[16] comm\n");
	assert_int_equal(synth_event_make(&made, se), 0);
	made.event.id = 1392;
	format = made_format(&made.event);
	text = (struct text){0};
	event_format_print(&text, &format);
	expect_text(&text,
		    "name: wakeup_latency\nID: 1392\nformat:\n"
		    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
		    "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
		    "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
		    "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
		    "\tfield:u64 lat;\toffset:8;\tsize:8;\tsigned:0;\n"
		    "\tfield:pid_t pid;\toffset:16;\tsize:4;\tsigned:1;\n"
		    "\tfield:char comm[];\toffset:24;\tsize:16;\tsigned:1;\n\n"
		    "print fmt: \"lat=%llu, pid=%d, comm=%s\", REC->lat, REC->pid, REC->comm\n");
	probe_event_unmake(&made);
	synth_event_free(se);
}

static void test_types(void **state)
{
	struct synth_event *se = define("all unsigned long a s8 b;char c[]\tgfp_t d; long e[]");
	struct probe_event_made made;
	struct text text = {0};

	(void)state;
	synth_event_print(se, &text);
	expect_text(&text, "all\tunsigned long a; s8 b; char[] c; gfp_t d; long[] e\n");
	assert_int_equal(synth_event_make(&made, se), 0);
	assert_string_equal(made.event.print_fmt,
			    "\"a=%lu, b=%d, c=%s, d=%x, e=%s\", REC->a, REC->b, __get_str(c), "
			    "REC->d, __get_stacktrace(e)");
	assert_string_equal(made.event.fields[2].type, "__data_loc char[]");
	assert_int_equal(made.event.fields[2].kind, GUESTSYM_EVENT_DYN_STRING);
	assert_int_equal(made.event.fields[2].size, 8);
	probe_event_unmake(&made);
	synth_event_free(se);
}

static void test_records(void **state)
{
	struct synth_event *se = define("r char a[]; u16 b; char c[8]; char d[]");
	const struct synth_value values[] = {
		{.text = "first"}, {.number = 0x12345}, {.text = "third"}, {0}};
	uint8_t record[SYNTH_RECORD_MAX];
	size_t head = 8 + 8 + 8 + 256 + 8;
	uint32_t loc;

	(void)state;
	assert_int_equal(se->size, head);
	assert_int_equal(synth_record_make(se, values, record),
			 head + sizeof("first") + sizeof("(fault)"));
	memcpy(&loc, record + 8, sizeof(loc));
	assert_int_equal(loc, head | sizeof("first") << 16);
	assert_string_equal((char *)record + head, "first");
	assert_int_equal(record[16] | record[17] << 8 | record[18] << 16, 0x2345);
	assert_string_equal((char *)record + 24, "third");
	assert_string_equal((char *)record + head + sizeof("first"), "(fault)");
	synth_event_free(se);
}

/* A line, and what is wrong with it. NULL: nothing is logged. */
struct line_case {
	const char *line;
	int ret;
	const char *what;
	uint16_t pos;
};

typedef int line_parse(const struct synth_event *others, const char *line,
		       struct synth_command *command, struct synth_error *err);

/* "there" is there already, and what is good defines "foo". */
static void check_lines(const struct line_case *c, size_t n, line_parse *parse)
{
	struct synth_event *there = define("there int x");

	for (; n; c++, n--) {
		struct synth_command command;
		struct synth_error err;
		int ret = parse(there, c->line, &command, &err);

		if (ret != c->ret || !err.what != !c->what ||
		    (err.what && (strcmp(err.what, c->what) != 0 || err.pos != c->pos)))
			fail_msg("%s: %d, %s, at %u", c->line, ret, err.what, err.pos);
		if (!ret && *c->line) {
			assert_string_equal(command.event->name, "foo");
			synth_event_free(command.event);
		}
	}
	synth_event_free(there);
}

static void test_errors(void **state)
{
	static const char form[] = "Command must be of the form: <name> field[;field] ...";
	static const struct line_case cases[] = {
		{"bad name", -EINVAL, form, 0},
		{"foo int", -EINVAL, form, 0},
		{"bad", -EINVAL, form, 0},
		{"foo;int x y", -EINVAL, form, 0},
		{"foo unknown_t x", -EINVAL, "Invalid type", 4},
		{"9foo int x", -EINVAL, "Illegal name", 0},
		{"foo int 9x", -EINVAL, "Illegal name", 8},
		{"foo int x y", -EINVAL, "Invalid field", 10},
		{"foo int x; unsigned int", -EINVAL, "Incomplete type", 11},
		{"foo char x[257]", -EINVAL, "Invalid array specification", 9},
		{"foo char x[1000]", -EINVAL, "Invalid array specification", 9},
		{"foo char x[8", -EINVAL, "Invalid array specification", 9},
		{"foo char x[8]y", -EINVAL, "Invalid array specification", 9},
		{"foo int x[8]", -EINVAL, "Invalid type", 4},
		{"there int x", -EEXIST, "Event already exists", 0},
	};

	(void)state;
	check_lines(cases, sizeof(cases) / sizeof(cases[0]), synth_command_parse);
}

/* Lines of dynamic_events. */
static void test_definitions(void **state)
{
	static const char form[] = "Command must be of the form: <name> field[;field] ...",
			  dyn[] = "Command must be of the form: s or -:[synthetic/]<name> "
				  "field[;field] ...";
	static const struct line_case cases[] = {
		{"s:foo int x", 0, NULL, 0},
		{" s:synthetic/foo int x; char n[8]", 0, NULL, 0},
		{"", 0, NULL, 0},
		{"foo int x", -ECANCELED, NULL, 0},
		{"p:foo vfs_read", -ECANCELED, NULL, 0},
		{"s", -ECANCELED, NULL, 0},
		{"s:foo", -EINVAL, form, 0},
		{"s:foo int", -EINVAL, form, 0},
		{"s: int x y", -EINVAL, form, 0},
		{"s:synthetic/ int x y", -EINVAL, form, 0},
		{"s:other/foo int x", -EINVAL, dyn, 0},
		{"s:foo int x; a/b c", -EINVAL, dyn, 0},
		{"s:9foo int x", -EINVAL, "Illegal name", 2},
		{" s:synthetic/foo unknown_t x", -EINVAL, "Invalid type", 16},
		{"s:there int x", -EEXIST, "Event already exists", 2},
	};

	(void)state;
	check_lines(cases, sizeof(cases) / sizeof(cases[0]), synth_definition_parse);
}

static void test_many(void **state)
{
	struct synth_command command;
	struct text line = {0};
	struct synth_error err;

	(void)state;
	text_puts(&line, "many");
	for (int i = 0; i < 65; i++)
		text_printf(&line, " int f%d;", i);
	text_putc(&line, '\0');
	assert_int_equal(synth_command_parse(NULL, line.buf, &command, &err), -EINVAL);
	assert_string_equal(err.what, "Too many fields");
	*strstr(line.buf, " int f64") = '\0';
	synth_event_free(define(line.buf));
	text_free(&line);
}

static void test_removal(void **state)
{
	struct synth_command command;
	struct synth_error err;

	(void)state;
	assert_int_equal(synth_command_parse(NULL, "!gone int x", &command, &err), 0);
	assert_string_equal(command.gone, "gone");
	assert_null(command.event);
	free(command.gone);
	assert_int_equal(synth_command_parse(NULL, "  \t", &command, &err), 0);
	assert_null(command.gone);
	assert_null(command.event);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_format),	    cmocka_unit_test(test_types),
		cmocka_unit_test(test_records),	    cmocka_unit_test(test_errors),
		cmocka_unit_test(test_definitions), cmocka_unit_test(test_many),
		cmocka_unit_test(test_removal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
