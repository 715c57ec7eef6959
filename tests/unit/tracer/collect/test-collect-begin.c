// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test-collect-begin.c - calls that a guest claims as soon as there is a window: the collector
 * answers them before whoever has started it goes on.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/tramp-guest.h"
#include "tracer/collect/collect.h"
#include "tracer/internal.h"
#include "vmm/thread.h"

static uint64_t claimed; /* where in the window the guest's call comes from; 0: it makes none */
static bool fails;	 /* no thread can be had */

/* In place of that of vmm/: does not come back before the new thread has answered. */
int thread_start(pthread_t *thread, const char *kind, const sigset_t *blocked,
		 void *(*run)(void *arg), void *arg)
{
	(void)blocked;
	assert_string_equal(kind, "collector");
	if (fails)
		return -EAGAIN;
	if (claimed)
		tramp_call_make(0, tramp_window() + claimed, FAKE_VA(STACK) + 0x3f00, 0);
	assert_int_equal(pthread_create(thread, NULL, run, arg), 0);
	if (claimed)
		tramp_wait(tramp_call_state(0) == PAYLOAD_CALL_DONE);
	return 0;
}

static struct trace *t;

static int set_up(void **state)
{
	char err[256];

	(void)state;
	tramp_kernel_make();
	claimed = 0;
	fails = false;
	t = tramp_trace((struct trace_config){.engine = TRACE_ENGINE_TRAP});
	if (trace_attach(t, NULL, err, sizeof(err)))
		fail_msg("%s", err);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	tramp_end(t);
	free(fake.ram);
	return 0;
}

static int open_window(void)
{
	char err[256] = "";
	int ret = collect_open_events(t, err, sizeof(err));

	assert_int_equal(!ret, !*err);
	return ret;
}

static void calls_are_answered_from_the_beginning(void **state)
{
	const uint64_t from[] = {
		WINDOW_TEXT, WINDOW_TEXT + (uint64_t)(payload_kprobe_call - payload_code),
		WINDOW_PIECE, /* not in its text */
	};
	char err[256];

	(void)state;
	for (size_t i = 0; i < sizeof(from) / sizeof(from[0]); i++) {
		claimed = from[i];
		assert_int_equal(open_window(), 0);
		assert_non_null(t->tramp);
		assert_int_equal(collect_close(t, false, err, sizeof(err)), 0);
		assert_null(t->tramp);
	}
}

/* Nothing of what could not be begun is left. */
static void without_a_collector_there_is_no_window(void **state)
{
	(void)state;
	fails = true;
	assert_int_equal(open_window(), -EAGAIN);
	assert_null(t->tramp);
	assert_int_equal(tramp_window(), 0);
	fails = false;
	assert_int_equal(open_window(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(calls_are_answered_from_the_beginning, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(without_a_collector_there_is_no_window, set_up,
						tear_down),
	};

	return cmocka_run_group_tests_name("collect-begin", tests, NULL, NULL);
}
