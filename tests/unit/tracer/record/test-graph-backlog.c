// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test-graph-backlog.c - calls of function_graph wait for their turn, those of each of these tests
 * until it lets the collector go: what is done meanwhile comes behind them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/tramp-guest.h"
#include "tracer/control/files.h"
#include "tracer/core/lock.h"
#include "tracer/filter/pid-filter.h"
#include "tracer/instance/files.h"
#include "tracer/output/options.h"
#include "tracer/probe/returns/returns.h"
#include "tracer/tracer.h"

enum {
	LISTED = 42,
	CHILD = 77,
	SP = 0x10001000,
	ALPHA_RETURN = FN_ALPHA + 0xf8,
	ROUNDS = 20,
	CALLS = 50, /* in each */
};

static struct trace *t;
static struct instance *top;

static int set_up(void **state)
{
	(void)state;
	tramp_kernel_make();
	tramp_add_ends();
	fake_symbol("_stext", FAKE_TEXT, 'T');
	fake_symbol("_etext", FAKE_VA(0x3000), 'T');
	memcpy(fake_at(FAKE_VA(ALPHA_RETURN - 1)), "\x90\xc3\x0f\x1f\x80\0\0\0\0", 9);
	put(SLEEPER + TASK_PID, CHILD, 4);
	t = tramp_started((struct trace_config){.control = true});
	top = trace_top(t);
	assert_int_equal(returns_learn(t), 0);
	assert_int_equal(trampoline_returns(t), 0);
	assert_int_equal(instance_set_tracer(top, "function_graph"), 0);
	assert_int_equal(pid_filter_write(instance_pids(top), PID_FILTER_TRACE, "42", 2), 2);
	assert_int_equal(instance_set_option(top, OUTPUT_FUNCTION_FORK, true), 0);
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

static void calls(uint64_t tsc, uint32_t pid, unsigned int type)
{
	uint32_t off = type == PAYLOAD_EXIT ? ALPHA_RETURN : FN_ALPHA;

	tramp_record(1, (struct payload_record){
				.tsc = tsc,
				.ip = (uint32_t)FAKE_VA(off),
				.parent = (uint32_t)FAKE_VA(FN_BETA + 0x10),
				.sp = SP,
				.task = pid,
				.state = PREEMPT_NO_RESCHED | type << STATE_TYPE_SHIFT,
			});
}

/* CALLS of them, which the collector cannot see yet. */
static void calls_wait(uint64_t tsc, uint32_t pid)
{
	trace_writers_stop(t);
	for (unsigned int i = 0; i < CALLS; i++) {
		calls(tsc + 2 * i, pid, PAYLOAD_FUNCTION);
		calls(tsc + 2 * i + 1, pid, PAYLOAD_EXIT);
	}
}

/* It is told to have gone before they are seen. */
static void child_lives(unsigned int n)
{
	static const uint32_t none = PAYLOAD_CALL_NONE;

	put(SLEEPER + TASK_EXIT_STATE, 0, 4);
	tramp_call(0, FAKE_VA(FN_TASK_NEW), FAKE_VA(STACK + 0x3f00), FAKE_VA(SLEEPER));
	put(SLEEPER + TASK_EXIT_STATE, 0x10, 4);
	calls_wait(10000 + n * 1000, CHILD);
	tramp_call_make(0, FAKE_VA(FN_TASK_GONE), FAKE_VA(STACK + 0x3f00), FAKE_VA(SLEEPER));
	trace_writers_go(t);
	tramp_wait(tramp_call_state(0) == PAYLOAD_CALL_DONE);
	window_put_at(ctl_off(0, CTL_CALL), &none, sizeof(none));
	assert_false(pid_list_has(instance_pids(top)->list[PID_FILTER_TRACE], CHILD));
}

static unsigned int count(const char *text, const char *what)
{
	unsigned int n = 0;

	for (; (text = strstr(text, what)); text += strlen(what))
		n++;
	return n;
}

static void calls_are(unsigned int n)
{
	char *text;

	assert_int_equal(trace_detach(t), 0);
	text = tramp_print(t);
	assert_int_equal(count(text, "  alpha();\n"), n);
	free(text);
}

static void a_task_that_has_gone_has_its_last_calls(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < ROUNDS; i++)
		child_lives(i);
	calls_are(ROUNDS * CALLS);
}

static void what_is_cleared_does_not_come_back(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < ROUNDS; i++) {
		calls_wait(10000 + i * 1000, LISTED);
		trace_writers_go(t);
		instance_clear(top, ALL_VCPUS);
	}
	calls_wait(10000 + ROUNDS * 1000, LISTED);
	trace_writers_go(t);
	calls_are(CALLS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_task_that_has_gone_has_its_last_calls, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(what_is_cleared_does_not_come_back, set_up,
						tear_down),
	};

	return cmocka_run_group_tests_name("graph-backlog", tests, NULL, NULL);
}
