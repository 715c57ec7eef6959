// SPDX-License-Identifier: GPL-2.0-or-later
/* test-text-lock.c - sites are the guest's while it holds text_mutex. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/tramp-guest.h"
#include "tracer/guest/site.h"
#include "tracer/tracer.h"

#define SP	 (STACK + 0x3f00)
#define QUIET_MS 700 /* longer than the sites stay away */
#define SOON_MS	 50  /* shorter than they stay away where nobody holds the mutex */

static struct trace *t;

static int set_up(void **state)
{
	(void)state;
	tramp_kernel_make();
	t = tramp_started((struct trace_config){0});
	assert_int_equal(tramp_target(FN_MUTEX_LOCK), tramp_entry(payload_lock));
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	tramp_end(t);
	assert_int_equal(tramp_target(FN_BETA), 0);
	free(fake.ram);
	return 0;
}

static void owner_is(uint64_t owner)
{
	assert_int_equal(machine_write(NULL, FAKE_PA + TEXT_MUTEX, &owner, sizeof(owner)), 0);
}

/* mutex_lock(mutex) is called from `caller`. */
static void lock(uint64_t mutex, uint32_t caller)
{
	uint64_t parent = FAKE_VA(caller + 0x10);

	assert_int_equal(machine_write(NULL, FAKE_PA + SP, &parent, sizeof(parent)), 0);
	tramp_call(0, FAKE_VA(FN_MUTEX_LOCK), FAKE_VA(SP), mutex);
}

static void sites_are_ours(bool ours)
{
	struct trace_status st;

	trace_get_status(t, &st);
	assert_int_equal(st.away, !ours);
	assert_int_equal(tramp_target(FN_ALPHA) != 0, ours);
	assert_int_equal(tramp_target(FN_BETA) != 0, ours);
	assert_int_equal(tramp_target(FN_MUTEX_LOCK) != 0, ours);
}

/*
 * It is taken. Between the call and the owner the sites are given back for some time only, which is
 * over when this thread gets no CPU for that long: once more, then.
 */
static void lock_and_own(void)
{
	for (;;) {
		int64_t begin = tramp_ms();

		lock(FAKE_VA(TEXT_MUTEX), FN_KPROBES);
		owner_is(FAKE_VA(TASK));
		if (tramp_ms() - begin < SOON_MS)
			break;
		owner_is(0);
		tramp_wait(tramp_target(FN_BETA));
	}
	sites_are_ours(false);
}

static void unlock(void)
{
	int64_t begin = tramp_ms();
	bool away;

	owner_is(0);
	/* It may be taken again in a moment. */
	away = !tramp_target(FN_BETA);
	assert_true(away || tramp_ms() - begin >= SOON_MS);
}

static void stay_away_for(int64_t ms)
{
	int64_t end = tramp_ms() + ms;

	while (tramp_ms() < end) {
		sites_are_ours(false);
		sched_yield();
	}
}

static void sites_are_given_back_while_it_is_held(void **state)
{
	const uint64_t open = ctl_off(1, CTL_OPEN + RECORD_TSC), begun = 12345;
	uint64_t now;

	(void)state;
	for (int i = 0; i < 2; i++) {
		lock_and_own();
		stay_away_for(QUIET_MS);
		unlock();
		window_put_at(open, &begun, sizeof(begun));
		tramp_wait(tramp_target(FN_BETA));
		sites_are_ours(true);
		window_get_at(open, &now, sizeof(now));
		assert_int_equal(now, 0); /* its end was not seen */
		assert_int_equal(tramp_target(FN_ALPHA), tramp_entry(payload_function));
		assert_int_equal(tramp_target(FN_MUTEX_LOCK), tramp_entry(payload_lock));
	}
}

static void sites_that_the_guest_has_used_stay_its_own(void **state)
{
	uint8_t call[SITE_SIZE];

	(void)state;
	lock_and_own();
	site_call_make(call, FAKE_VA(FN_ALPHA), FAKE_VA(FN_START_KERNEL));
	machine_write(NULL, FAKE_PA + FN_ALPHA, call, sizeof(call));
	owner_is(0);
	tramp_wait(tramp_target(FN_BETA));
	assert_int_equal(tramp_target(FN_ALPHA), FAKE_VA(FN_START_KERNEL));
}

static void other_mutexes_and_harmless_callers_change_nothing(void **state)
{
	(void)state;
	lock(FAKE_VA(TEXT_MUTEX + 8), FN_KPROBES);
	sites_are_ours(true);
	lock(FAKE_VA(TEXT_MUTEX), FN_JUMP_LABEL);
	sites_are_ours(true);
}

/* Who does not see the next change coming must not have anything in the text. */
static void nothing_is_taken_while_the_watch_is_impossible(void **state)
{
	uint8_t call[SITE_SIZE];
	int64_t end;

	(void)state;
	lock_and_own();
	site_call_make(call, FAKE_VA(FN_MUTEX_LOCK), FAKE_VA(FN_START_KERNEL));
	machine_write(NULL, FAKE_PA + FN_MUTEX_LOCK, call, sizeof(call));
	owner_is(0);
	for (end = tramp_ms() + QUIET_MS; tramp_ms() < end; sched_yield())
		assert_int_equal(tramp_target(FN_BETA), 0);
	machine_write(NULL, FAKE_PA + FN_MUTEX_LOCK, site_nop, SITE_SIZE);
	tramp_wait(tramp_target(FN_BETA));
	assert_int_equal(tramp_target(FN_MUTEX_LOCK), tramp_entry(payload_lock));
}

static void detaching_ends_it(void **state)
{
	(void)state;
	lock_and_own();
	owner_is(0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(sites_are_given_back_while_it_is_held, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(sites_that_the_guest_has_used_stay_its_own, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(other_mutexes_and_harmless_callers_change_nothing,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(nothing_is_taken_while_the_watch_is_impossible,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(detaching_ends_it, set_up, tear_down),
	};

	return cmocka_run_group_tests_name("text-lock", tests, NULL, NULL);
}
