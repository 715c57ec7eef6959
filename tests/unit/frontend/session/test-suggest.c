// SPDX-License-Identifier: GPL-2.0-or-later
/* test-suggest.c - what is said about names that a trace does not have, and values that its files
 * refuse. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <errno.h>
#include <string.h>

#include <cmocka.h>

#include "frontend/session/suggest.h"
#include "tracer/tracer.h"

static const struct {
	const char *path, *text;
} files[] = {
	{".", "current_tracer\ninstances/\nset_event\ntracing_on\n"},
	{"events/sched", "sched_switch/\nsched_waking/\n"},
	{"events", "irq/\nsched/\n"},
	{"available_tracers", "function nop\n"},
	{"available_events", "sched:sched_switch\nsched:sched_waking\nirq:softirq_entry\n"},
	{"available_filter_functions", "vfs_read\nvfs_write\nnbd_open [nbd]\n"},
	{"trace_clock", "[local] global mono\n"},
	{"trace_options", "print-parent\nnooverwrite\n"},
	{"error_log",
	 "[    1.000000] hist:sched:sched_switch: error: Unknown\n  Command: keys=foo\n"
	 "               ^\n"
	 "[    2.000000] event filter parse error: error: Field not found\n"
	 "  Command: foo == 1\n           ^\n"},
	{"instances/a/error_log", ""},
};

static int read_file(void *arg, const char *path, struct text *to)
{
	(void)arg;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		if (!strcmp(files[i].path, path)) {
			text_puts(to, files[i].text);
			text_putc(to, '\0');
			return 0;
		}
	return -ENOENT;
}

static const struct trace_reader under_way = {read_file, NULL, true},
				 not_begun = {read_file, NULL, false};

static void expect_file(const struct trace_reader *r, const char *path, const char *hint)
{
	char buf[256];

	suggest_file(r, path, buf, sizeof(buf));
	assert_string_equal(buf, hint);
}

static void expect(const struct trace_reader *r, int rc, const char *file, const char *word,
		   const char *expected)
{
	struct text why = {0};

	suggest_words(r, rc, file, &word, 1, &why);
	text_putc(&why, '\0');
	assert_string_equal(why.buf, expected);
	text_free(&why);
}

static void files_that_there_are_not(void **state)
{
	(void)state;
	expect_file(&under_way, "curent_tracer", "; did you mean current_tracer?");
	expect_file(&under_way, "events/sched/sched_swich",
		    "; did you mean events/sched/sched_switch?");
	expect_file(&under_way, "events/schd/sched_switch/format", "; did you mean events/sched?");
	expect_file(&under_way, "events/schd/sched_switch", "; did you mean events/sched?");
	expect_file(&under_way, "nothing", " (hvtrace get . lists what there is)");
	expect_file(&not_begun, "nothing", "");
	expect_file(&not_begun, "set_evnt", "; did you mean set_event?");
}

static void names_that_there_are_not(void **state)
{
	(void)state;
	expect(&under_way, -EINVAL, "current_tracer", "functon",
	       "there is no tracer functon, but function nop; did you mean function?");
	expect(&under_way, -EINVAL, "set_event", "foo",
	       "there is no event foo (hvtrace get available_events lists them)");
	expect(&not_begun, -EINVAL, "set_event", "sched_swich",
	       "there is no event sched_swich; did you mean sched_switch? (hvtrace events lists them)");
	expect(&not_begun, -EINVAL, "instances/a/set_event", "irq", "");
	expect(&under_way, -EINVAL, "set_ftrace_filter", "vfs_read nbd_open vfs_wirte:traceoff",
	       "there is no traceable function vfs_wirte; did you mean vfs_write? "
	       "(hvtrace get available_filter_functions lists them)");
	expect(&not_begun, -EINVAL, "trace_clock", "foo",
	       "there is no clock foo, but [local] global mono");
	expect(&not_begun, -EINVAL, "trace_options", "nofoo", "there is no option foo");
	expect(&not_begun, -EINVAL, "trace_options", "overwrite", "");
}

static void values_that_are_refused(void **state)
{
	(void)state;
	expect(&under_way, -EINVAL, "tracing_on", "x", "it takes 0 or 1");
	expect(&under_way, -EINVAL, "events/sched/enable", "x", "it takes 0 or 1");
	expect(&under_way, -EINVAL, "options/stacktrace", "2", "it takes 0 or 1");
	expect(&under_way, -EINVAL, "instances/a/buffer_size_kb", "x", "it takes a number of KB");
	expect(&under_way, -ENOMEM, "buffer_size_kb", "9999999", "");
	expect(&under_way, -EINVAL, "trace_marker", "x", "");
}

static void what_the_trace_has_noted(void **state)
{
	(void)state;
	expect(&under_way, -EINVAL, "events/sched/sched_switch/filter", "foo == 1",
	       "event filter parse error: error: Field not found\n  Command: foo == 1\n           ^\n");
	/* That was about something else, or of somebody else. */
	expect(&under_way, -EINVAL, "events/sched/sched_switch/filter", "bar == 1", "");
	expect(&under_way, -EINVAL, "instances/a/events/sched/sched_switch/filter", "foo == 1", "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_that_there_are_not),
		cmocka_unit_test(names_that_there_are_not),
		cmocka_unit_test(values_that_are_refused),
		cmocka_unit_test(what_the_trace_has_noted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
