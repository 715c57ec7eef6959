// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test-record-options.c - options that change what is recorded: func_stack_trace, func-no-repeats,
 * function-fork.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/tramp-guest.h"
#include "tracer/output/options.h"
#include "tracer/filter/pid-filter.h"
#include "tracer/instance/files.h"
#include "tracer/control/files.h"
#include "tracer/tracer.h"

enum {
	CHILD = 77,
};

static struct trace *t;
static struct instance *top;

static int set_up(void **state)
{
	(void)state;
	tramp_kernel_make();
	tramp_add_ends();
	put(SLEEPER + TASK_PID, CHILD, 4);
	t = tramp_started((struct trace_config){.control = true});
	top = trace_top(t);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	trace_detach(t);
	trace_free(t);
	free(fake.ram);
	return 0;
}

static void trace_is(const char *want)
{
	char *text;

	assert_int_equal(trace_detach(t), 0);
	text = tramp_print(t);
	assert_string_equal(text, want);
	free(text);
}

static void function_option(uint32_t flag, bool on)
{
	assert_int_equal(instance_set_tracer_option(top, "function", flag, on), 0);
}

/* --- func-no-repeats ------------------------------------------------------------------------- */

static void calls(uint64_t tsc, uint32_t off, unsigned int n, uint32_t pid)
{
	for (unsigned int i = 0; i < n; i++)
		tramp_function(0, tsc + i, off, PREEMPT_NO_RESCHED, pid);
}

static void repeats_are_counted(void **state)
{
	(void)state;
	function_option(OUTPUT_FUNC_NO_REPEATS, true);
	calls(100, FN_ALPHA, 4, 7);
	tramp_function(1, 102, FN_ALPHA, PREEMPT_NO_RESCHED, 9); /* another vCPU's */
	calls(200, FN_BETA, 1, 8);
	calls(300, FN_ALPHA, 1, 7);
	calls(400, FN_ALPHA, 2, 8); /* whoever calls; these are still waited for */
	trace_is("           <...>-7       [000] .....          100: alpha <-start_kernel\n"
		 "           <...>-9       [001] .....          102: alpha <-start_kernel\n"
		 "           <...>-8       [000] .....          200: alpha <-start_kernel "
		 "(repeats: 3, last_ts:          103)\n"
		 "           <...>-8       [000] .....          200: beta <-start_kernel\n"
		 "           <...>-7       [000] .....          300: alpha <-start_kernel\n");
}

/* The number has 16 bits: the call that does not fit is a new one. */
static void repeats_are_many(void **state)
{
	struct trace_status st;

	(void)state;
	function_option(OUTPUT_FUNC_NO_REPEATS, true);
	for (unsigned int i = 0; i < 66; i++) { /* of 1000, as much as the collector can take */
		uint64_t want = (i + 1) * 1000;

		calls(1 + i * 1000, FN_ALPHA, 1000, 7);
		tramp_wait((trace_get_status(t, &st), st.staged == want));
	}
	calls(100000, FN_BETA, 1, 7);
	trace_is("           <...>-7       [000] .....            1: alpha <-start_kernel\n"
		 "           <...>-7       [000] .....        65537: alpha <-start_kernel "
		 "(repeats: 65535, last_ts:        65536)\n"
		 "           <...>-7       [000] .....        65537: alpha <-start_kernel\n"
		 "           <...>-7       [000] .....       100000: alpha <-start_kernel "
		 "(repeats: 463, last_ts:        66000)\n"
		 "           <...>-7       [000] .....       100000: beta <-start_kernel\n");
}

/* --- func_stack_trace ------------------------------------------------------------------------ */

#define AT_ALPHA FAKE_VA(FN_ALPHA), FAKE_VA(STACK + 0x3f00), 0

static void stacks_follow_their_calls(void **state)
{
	(void)state;
	put(STACK + 0x3f00, FAKE_VA(FN_START_KERNEL + 0x10), 8);
	function_option(OUTPUT_FUNC_STACK_TRACE, true);
	assert_int_equal(tramp_target(FN_ALPHA), tramp_entry(payload_stack));
	tramp_call(0, AT_ALPHA);
	tramp_function(0, 6000, FN_BETA, PREEMPT_NO_RESCHED, 7); /* what could not wait */
	function_option(OUTPUT_FUNC_STACK_TRACE, false);
	assert_int_equal(tramp_target(FN_ALPHA), tramp_entry(payload_function));
	/* No tables in this kernel: one function is all that is known. */
	trace_is("            cpu0-42      [000] .....         5000: alpha <-start_kernel\n"
		 "            cpu0-42      [000] .....         5000: <stack trace>\n"
		 " => alpha\n"
		 "           <...>-7       [000] .....         6000: beta <-start_kernel\n");
}

static void stacks_only_of_what_is_recorded(void **state)
{
	(void)state;
	put(STACK + 0x3f00, FAKE_VA(FN_START_KERNEL + 0x10), 8);
	function_option(OUTPUT_FUNC_STACK_TRACE | OUTPUT_FUNC_NO_REPEATS, true);
	for (int i = 0; i < 3; i++)
		tramp_call(0, AT_ALPHA);
	trace_is("            cpu0-42      [000] .....         5000: alpha <-start_kernel\n"
		 "            cpu0-42      [000] .....         5000: <stack trace>\n"
		 " => alpha\n");
}

static uint32_t no_wait(void)
{
	uint32_t value;

	window_get_at(ctl_off(0, CTL_NO_WAIT), &value, sizeof(value));
	return value;
}

static void interrupts_do_not_wait_for_ever(void **state)
{
	static const uint32_t none = PAYLOAD_CALL_NONE;
	uint32_t count = PREEMPT_NO_RESCHED + 0x10000 + 1;
	unsigned int waits = 0;

	(void)state;
	function_option(OUTPUT_FUNC_STACK_TRACE, true);
	for (int i = 0; i < 100; i++)
		tramp_call(0, AT_ALPHA);
	assert_false(no_wait());
	for (; !no_wait() && waits < 1000; waits++) {
		tramp_call_fill(0, AT_ALPHA);
		window_put_at(ctl_off(0, CTL_CALL_PC), &count, sizeof(count));
		tramp_call_go(0);
		tramp_wait(tramp_call_state(0) == PAYLOAD_CALL_DONE);
		window_put_at(ctl_off(0, CTL_CALL), &none, sizeof(none));
	}
	assert_in_range(waits, 10, 999);
	tramp_wait(!no_wait());
}

/* --- function-fork --------------------------------------------------------------------------- */

static void pids(enum pid_filter_file file, const char *text)
{
	assert_int_equal(pid_filter_write(instance_pids(top), file, text, strlen(text)),
			 strlen(text));
}

static bool listed(enum pid_filter_file file)
{
	return pid_list_has(instance_pids(top)->list[file], CHILD);
}

static bool payload_knows(void)
{
	uint8_t bits;

	window_get_at(WINDOW_PIDS + CHILD / 8, &bits, sizeof(bits));
	return bits >> (CHILD & 7) & 1;
}

static void task_hit(uint32_t function, uint64_t task)
{
	tramp_call(0, FAKE_VA(function), FAKE_VA(STACK + 0x3f00), task);
}

static void only_what_follows_is_watched(void **state)
{
	(void)state;
	assert_int_equal(instance_set_option(top, OUTPUT_FUNCTION_FORK, true), 0);
	assert_int_equal(tramp_target(FN_TASK_NEW), 0); /* all tasks are traced */
	pids(PID_FILTER_TRACE, "42");
	assert_int_equal(tramp_target(FN_TASK_NEW), tramp_entry(payload_call));
	assert_int_equal(tramp_target(FN_TASK_GONE), tramp_entry(payload_call));
	assert_int_equal(instance_set_option(top, OUTPUT_FUNCTION_FORK, false), 0);
	assert_int_equal(tramp_target(FN_TASK_NEW), 0);
	assert_int_equal(instance_set_option(top, OUTPUT_FUNCTION_FORK, true), 0);
	assert_int_not_equal(tramp_target(FN_TASK_GONE), 0);
	pid_filter_truncate(instance_pids(top), PID_FILTER_TRACE);
	assert_int_equal(tramp_target(FN_TASK_GONE), 0);
}

static void children_are_listed(void **state)
{
	(void)state;
	pids(PID_FILTER_TRACE, "42");
	assert_int_equal(instance_set_option(top, OUTPUT_FUNCTION_FORK, true), 0);
	put(SLEEPER + TASK_ON_CPU, 1, 4);
	task_hit(FN_TASK_NEW, FAKE_VA(SLEEPER));
	assert_true(listed(PID_FILTER_TRACE) && payload_knows());
	assert_false(listed(PID_FILTER_NOTRACE));
	task_hit(FN_TASK_GONE, FAKE_VA(SLEEPER)); /* not while it runs */
	put(SLEEPER + TASK_EXIT_STATE, 0x10, 4);
	task_hit(FN_TASK_GONE, FAKE_VA(SLEEPER));
	assert_true(listed(PID_FILTER_TRACE) && payload_knows());
	put(SLEEPER + TASK_ON_CPU, 0, 4);
	put(SLEEPER + TASK_EXIT_STATE, 0x20, 4); /* nor while its parent has not looked */
	task_hit(FN_TASK_GONE, FAKE_VA(SLEEPER));
	assert_true(listed(PID_FILTER_TRACE) && payload_knows());
	put(SLEEPER + TASK_EXIT_STATE, 0x10, 4);
	tramp_function(1, 100, FN_BETA, PREEMPT_NO_RESCHED, CHILD); /* its last call */
	task_hit(FN_TASK_GONE, FAKE_VA(SLEEPER));
	assert_false(listed(PID_FILTER_TRACE) || payload_knows());
	trace_is("           <...>-77      [001] .....          100: beta <-start_kernel\n");
}

static void children_of_others_are_not(void **state)
{
	(void)state;
	pids(PID_FILTER_TRACE, "41");
	pids(PID_FILTER_NOTRACE, "42");
	assert_int_equal(instance_set_option(top, OUTPUT_FUNCTION_FORK, true), 0);
	task_hit(FN_TASK_NEW, FAKE_VA(SLEEPER));
	assert_false(listed(PID_FILTER_TRACE) || payload_knows());
	assert_true(listed(PID_FILTER_NOTRACE));
}

static void tasks_that_are_none_are_ignored(void **state)
{
	static const uint64_t tasks[] = {0, 1, UINT64_MAX, UINT64_C(1) << 63,
					 FAKE_VA(FAKE_RAM - FAKE_PA) - TASK_PID - 2};

	(void)state;
	pids(PID_FILTER_TRACE, "42");
	assert_int_equal(instance_set_option(top, OUTPUT_FUNCTION_FORK, true), 0);
	for (size_t i = 0; i < sizeof(tasks) / sizeof(tasks[0]); i++) {
		task_hit(FN_TASK_NEW, tasks[i]);
		task_hit(FN_TASK_GONE, tasks[i]);
	}
	put(SLEEPER + TASK_PID, UINT32_MAX, 4);
	task_hit(FN_TASK_NEW, FAKE_VA(SLEEPER));
	put(SLEEPER + TASK_PID, RECORD_PID_MASK + 1, 4); /* the payload has no bit for it */
	task_hit(FN_TASK_NEW, FAKE_VA(SLEEPER));
	assert_true(pid_list_has(instance_pids(top)->list[PID_FILTER_TRACE], RECORD_PID_MASK + 1));
	trace_is("");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(repeats_are_counted),
		TEST(repeats_are_many),
		TEST(stacks_follow_their_calls),
		TEST(stacks_only_of_what_is_recorded),
		TEST(interrupts_do_not_wait_for_ever),
		TEST(only_what_follows_is_watched),
		TEST(children_are_listed),
		TEST(children_of_others_are_not),
		TEST(tasks_that_are_none_are_ignored),
	};

	return cmocka_run_group_tests_name("record-options", tests, NULL, NULL);
}
