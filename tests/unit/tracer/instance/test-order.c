// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test-order.c - what vCPUs have recorded has effects in the order of its time, in whatever order
 * it is collected.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/one-event.h"
#include "tests/unit/tramp-guest.h"
#include "tracer/control/files.h"
#include "tracer/events/registry.h"
#include "tracer/instance/events.h"
#include "tracer/instance/files.h"
#include "tracer/instance/instance.h"
#include "tracer/payload/event-ring.h"
#include "tracer/record/files.h"
#include "tracer/ring/entry.h"
#include "tracer/tracer.h"

#define TEXT_SIZE 1024

static struct trace *t;

static int set_up(void **state)
{
	(void)state;
	tramp_kernel_make();
	fake.events = &one_event_list;
	t = tramp_started((struct trace_config){0});
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	trace_free(t);
	free(fake.ram);
	return 0;
}

static void function_at(unsigned int vcpu, uint64_t tsc)
{
	tramp_function(vcpu, tsc, FN_ALPHA, PREEMPT_NO_RESCHED, 7);
}

/* vCPU 1 comes to the function of a command at 5000, vCPU 0 has been at alpha before and after. */
static void command_comes_by(void)
{
	static const uint32_t none = PAYLOAD_CALL_NONE;

	put(STACK + 0x3f00, FAKE_VA(FN_START_KERNEL + 0x10), 8);
	trace_writers_stop(t); /* the collector finds all of it */
	function_at(0, 4990);
	function_at(0, 5010);
	tramp_call_make(1, FAKE_VA(FN_BETA), FAKE_VA(STACK + 0x3f00), 0);
	trace_writers_go(t);
	tramp_wait(tramp_call_state(1) == PAYLOAD_CALL_DONE);
	window_put_at(ctl_off(1, CTL_CALL), &none, sizeof(none));
}

static void command(const char *text)
{
	struct func_file *file;
	size_t len = strlen(text);

	assert_int_equal(
		func_file_open(instance_functions(trace_top(t)), FUNC_FILTER, O_WRONLY, &file), 0);
	trace_change_begin(t);
	assert_int_equal(func_file_write(file, text, len), len);
	func_file_close(file);
	trace_change_end(t);
}

static void trace_is(const char *want)
{
	char *text;

	assert_int_equal(trace_detach(t), 0);
	text = tramp_print(t);
	assert_string_equal(text, want);
	free(text);
}

/* --- commands --------------------------------------------------------------------------------- */

static void traceoff_is_at_its_time(void **state)
{
	(void)state;
	command("beta:traceoff\n");
	command_comes_by();
	assert_false(instance_is_on(trace_top(t)));
	trace_is("           <...>-7       [000] .....         4990: alpha <-start_kernel\n"
		 "            cpu1-43      [001] .....         5000: beta <-start_kernel\n");
}

static void traceon_is_at_its_time(void **state)
{
	(void)state;
	command("beta:traceon\n");
	instance_set_on(trace_top(t), false);
	command_comes_by();
	assert_true(instance_is_on(trace_top(t)));
	trace_is("           <...>-7       [000] .....         5010: alpha <-start_kernel\n");
}

/* What there is to read, which closes it. */
static void read_all(struct instance_reader *r, char text[TEXT_SIZE])
{
	ssize_t n;

	assert_non_null(r);
	n = instance_read(r, text, TEXT_SIZE - 1, 0);
	assert_in_range(n, 1, TEXT_SIZE - 1);
	text[n] = '\0';
	instance_read_close(r);
}

/* While a vCPU stands in the middle of a record: who writes one reads it at once. */
static void marks_are_there_at_once(void **state)
{
	char text[TEXT_SIZE];

	(void)state;
	command("beta:snapshot\n");
	function_at(0, 5010);
	function_at(1, 4990);
	tramp_reserve(1);
	assert_int_equal(instance_mark(trace_top(t), "mark", 4), 0);
	read_all(instance_read_open(trace_top(t), ALL_VCPUS, false), text);
	assert_non_null(strstr(text, " 4990: alpha"));
	assert_non_null(strstr(text, ": mark\n"));
	assert_int_equal(trace_detach(t), 0);
}

static void snapshots_are_of_their_time(void **state)
{
	char text[TEXT_SIZE];

	(void)state;
	command("beta:snapshot\n");
	command_comes_by();
	read_all(instance_snapshot_open(trace_top(t), ALL_VCPUS), text);
	assert_non_null(strstr(text, " 4990: alpha"));
	assert_non_null(strstr(text, " 5000: beta"));
	assert_null(strstr(text, " 5010: alpha"));
	trace_is("           <...>-7       [000] .....         5010: alpha <-start_kernel\n");
}

/* What is not on is recorded all the same as long as it may be turned on by what is recorded. */
static bool vcpu_records(unsigned int vcpu)
{
	uint32_t flags;

	window_get_at(ctl_off(vcpu, CTL_FLAGS), &flags, sizeof(flags));
	return flags & CTL_FL_ON;
}

static void guests_record_what_may_be_kept(void **state)
{
	(void)state;
	assert_true(vcpu_records(0));
	instance_set_on(trace_top(t), false);
	assert_false(vcpu_records(0));
	command("beta:traceon\n");
	assert_true(vcpu_records(0));
	command("!beta:traceon\n");
	assert_false(vcpu_records(0));
	assert_int_equal(trace_detach(t), 0);
}

/* --- triggers --------------------------------------------------------------------------------- */

static void trigger(const char *text)
{
	struct instance *top = trace_top(t);

	t->trace_events->event_of[0] = 0;
	assert_int_equal(events_load(t->trace_events), 0);
	assert_int_equal(instance_events_get(top), 0);
	trace_writers_stop(t);
	top->events[0].on = true;
	instance_count_events(top);
	trace_writers_go(t);
	/* This guest cannot be asked for anything. */
	assert_int_equal(instance_write_event_trigger(top, 0, text, strlen(text)), -EOPNOTSUPP);
}

/* vCPU 1 makes the event at 200, vCPU 0 calls alpha before and after: that is collected later. */
static void event_comes_with(const struct event_stack *stack)
{
	const struct {
		struct trace_entry ent;
		int32_t value;
	} data = {.value = 42};
	struct payload_record r = {
		.tsc = 200,
		.task = 8,
		.state = (uint32_t)PAYLOAD_EVENT << STATE_TYPE_SHIFT | PREEMPT_NO_RESCHED,
	};

	r.event_len = sizeof(data);
	trace_writers_stop(t);
	instance_collect_event(trace_top(t), 1, &r, 0, &data, stack, NULL, 200);
	function_at(0, 190);
	function_at(0, 210);
	trace_writers_go(t);
	trace_catch_up(t);
}

static void event_comes_by(void)
{
	event_comes_with(NULL);
}

static void triggers_turn_off_at_their_time(void **state)
{
	(void)state;
	trigger("traceoff if value == 42");
	event_comes_by();
	assert_false(instance_is_on(trace_top(t)));
	trace_is("           <...>-7       [000] .....          190: alpha <-start_kernel\n"
		 "           <...>-8       [001] .....          200: made: value=42\n");
}

static void triggers_turn_on_at_their_time(void **state)
{
	(void)state;
	trigger("traceon");
	instance_set_on(trace_top(t), false);
	assert_true(vcpu_records(0));
	event_comes_by();
	assert_true(instance_is_on(trace_top(t)));
	/* The record itself is looked at first: actions.c. */
	trace_is("           <...>-8       [001] .....          200: made: value=42\n"
		 "           <...>-7       [000] .....          210: alpha <-start_kernel\n");
}

/* Of the kernel and of the user mode, as they were when the record was made: they wait with it. */
static void stacks_come_with_their_records(void **state)
{
	const struct event_stack stack = {
		.n = 1,
		.ip = {FAKE_VA(FN_BETA)},
		.has_user = true,
		.tgid = 8,
		.user_ip = {0x401000, 0x7fff00001234},
	};

	(void)state;
	trigger("traceoff if value == 41");
	trace_top(t)->options |= OUTPUT_STACKTRACE | OUTPUT_USER_STACKTRACE;
	event_comes_with(&stack);
	trace_is("           <...>-7       [000] .....          190: alpha <-start_kernel\n"
		 "           <...>-8       [001] .....          200: made: value=42\n"
		 "           <...>-8       [001] .....          200: <stack trace>\n"
		 " => beta\n"
		 "           <...>-8       [001] .....          200: <user stack trace>\n"
		 " =>  <0000000000401000>\n"
		 " =>  <00007fff00001234>\n"
		 "           <...>-7       [000] .....          210: alpha <-start_kernel\n");
}

/* What has no user mode has an entry, what was not looked at has none. */
static void kernel_threads_have_empty_stacks(void **state)
{
	const struct event_stack none = {.n = 1, .ip = {FAKE_VA(FN_BETA)}},
				 empty = {.n = 1, .ip = {FAKE_VA(FN_BETA)}, .has_user = true};

	(void)state;
	trigger("traceoff if value == 41");
	trace_top(t)->options |= OUTPUT_USER_STACKTRACE;
	event_comes_with(&none);
	event_comes_with(&empty);
	trace_is("           <...>-7       [000] .....          190: alpha <-start_kernel\n"
		 "           <...>-8       [001] .....          200: made: value=42\n"
		 "           <...>-8       [001] .....          200: made: value=42\n"
		 "           <...>-8       [001] .....          200: <user stack trace>\n"
		 "           <...>-7       [000] .....          210: alpha <-start_kernel\n"
		 "           <...>-7       [000] .....          210: alpha <-start_kernel\n"
		 "           <...>-7       [000] .....          210: alpha <-start_kernel\n");
}

/* --- of ftrace:print -------------------------------------------------------------------------- */

static ssize_t mark_trigger(const char *text)
{
	return instance_write_mark_trigger(trace_top(t), text, strlen(text));
}

static int mark(const char *text)
{
	return instance_mark(trace_top(t), text, strlen(text));
}

static void mark_triggers_are(const char *want)
{
	struct text out = {0};

	instance_print_mark_triggers(trace_top(t), &out);
	assert_non_null(out.buf);
	assert_non_null(strstr(out.buf, want));
	free(out.buf);
}

/* The one that sets it off is still there, and the trigger has not seen the end of its line. */
static void marks_set_off_triggers(void **state)
{
	char *text;

	(void)state;
	assert_true(mark_trigger("traceoff if buf == \"stop\"") > 0);
	mark_triggers_are("traceoff:unlimited if buf == \"stop\"");
	assert_int_equal(mark("stop it"), 0);
	assert_true(instance_is_on(trace_top(t)));
	assert_int_equal(mark("stop"), 0);
	assert_false(instance_is_on(trace_top(t)));
	assert_int_equal(mark("late"), -EBADF);
	assert_int_equal(trace_detach(t), 0);
	text = tramp_print(t);
	assert_non_null(strstr(text, ": stop it\n"));
	assert_non_null(strstr(text, ": stop\n"));
	assert_null(strstr(text, "late"));
	free(text);
}

static void marks_are_matched_and_counted(void **state)
{
	struct text out = {0};

	(void)state;
	assert_true(mark_trigger("snapshot:1 if buf ~ \"*now*\"") > 0);
	assert_true(mark_trigger("hist:keys=ip") > 0);
	assert_int_equal(mark("one"), 0);
	mark_triggers_are("snapshot:count=1 if buf ~ \"*now*\"");
	assert_int_equal(mark("two, now"), 0);
	mark_triggers_are("snapshot:count=0 if buf ~ \"*now*\"");
	assert_true(instance_has_snapshot(trace_top(t)));
	instance_print_mark_hist(trace_top(t), &out);
	assert_non_null(out.buf);
	assert_non_null(strstr(out.buf, "Hits: 2\n"));
	free(out.buf);
	assert_true(mark_trigger("!snapshot:1") > 0);
	assert_int_equal(trace_detach(t), 0);
}

/* --- the clock counter ------------------------------------------------------------------------ */

static void counters_count_in_order(void **state)
{
	(void)state;
	assert_int_equal(instance_set_clock(trace_top(t), "counter"), 0);
	trace_writers_stop(t);
	function_at(0, 100);
	function_at(0, 300);
	tramp_function(1, 200, FN_BETA, PREEMPT_NO_RESCHED, 8);
	trace_writers_go(t);
	/* The buffers were cleared at 1. */
	trace_is("           <...>-7       [000] .....            2: alpha <-start_kernel\n"
		 "           <...>-8       [001] .....            3: beta <-start_kernel\n"
		 "           <...>-7       [000] .....            4: alpha <-start_kernel\n");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(traceoff_is_at_its_time),	      TEST(traceon_is_at_its_time),
		TEST(marks_are_there_at_once),	      TEST(snapshots_are_of_their_time),
		TEST(guests_record_what_may_be_kept), TEST(triggers_turn_off_at_their_time),
		TEST(triggers_turn_on_at_their_time), TEST(counters_count_in_order),
		TEST(marks_set_off_triggers),	      TEST(marks_are_matched_and_counted),
		TEST(stacks_come_with_their_records), TEST(kernel_threads_have_empty_stacks),
	};

	return cmocka_run_group_tests_name("order", tests, NULL, NULL);
}
