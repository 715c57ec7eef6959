// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test-payload-switch.c - the payload in the place of tracing_off() and tracing_on(): what it tells
 * the host, and whom it makes wait.
 */
#include "tests/unit/payload-guest.h"

#include <pthread.h>
#include <sched.h>

/* The functions themselves do nothing here but return. */
static int setup(void **state)
{
	int ret = payload_guest_setup(state);
	struct payload_guest *g = *state;

	g->cfg.call_timeout = UINT64_MAX; /* the host's thread may not run at once */
	payload_guest_load(g);
	g->window[WINDOW_TEXT + g->text.tracing_off_rest] = 0xc3;
	g->window[WINDOW_TEXT + g->text.tracing_on_rest] = 0xc3;
	return ret;
}

static uint64_t *word(struct payload_guest *g)
{
	return (uint64_t *)(void *)(g->window + WINDOW_SWITCH);
}

/* The first time is kept, and only while the host says that it is on. */
static void off_tells_when(void **state)
{
	struct payload_guest *g = *state;
	uint64_t from = __builtin_ia32_rdtsc(), at;

	*word(g) = SWITCH_OFF;
	payload_guest_call_full(g, g->text.tracing_off, NULL);
	assert_int_equal(*word(g), SWITCH_OFF);
	*word(g) = (uint64_t)SWITCH_ON;
	payload_guest_call_full(g, g->text.tracing_off, NULL);
	at = *word(g);
	assert_in_range(at, from, __builtin_ia32_rdtsc());
	payload_guest_call_full(g, g->text.tracing_off, NULL);
	assert_int_equal(*word(g), at);
}

/* A host that turns it on. */
static void *host(void *arg)
{
	struct payload_guest *g = arg;

	while (ctl32_look(g, CTL_CALL) != PAYLOAD_CALL_MADE)
		sched_yield();
	__atomic_store_n(word(g), (uint64_t)SWITCH_ON, __ATOMIC_RELEASE);
	ctl32_set(g, CTL_CALL, PAYLOAD_CALL_DONE);
	return NULL;
}

static void on_waits_for_the_host(void **state)
{
	static const uint64_t before[] = {SWITCH_OFF, 4711}; /* also where an off is on its way */
	struct payload_guest *g = *state;
	uintptr_t at = (uintptr_t)g->window + WINDOW_TEXT + g->text.switch_call;

	for (int i = 0; i < 2; i++) {
		pthread_t thread;

		*word(g) = before[i];
		assert_int_equal(pthread_create(&thread, NULL, host, g), 0);
		payload_guest_call_full(g, g->text.tracing_on, NULL);
		assert_int_equal(pthread_join(thread, NULL), 0);
		assert_int_equal(*word(g), (uint64_t)SWITCH_ON);
		assert_int_equal(*ctl32(g, CTL_CALL), PAYLOAD_CALL_NONE);
		assert_int_equal(*ctl32(g, CTL_CALL_IP), (uint32_t)at);
		*ctl32(g, CTL_CALL_IP) = 0;
		payload_guest_call_full(g, g->text.tracing_on,
					NULL); /* it is on: nobody is asked */
		assert_int_equal(*ctl32(g, CTL_CALL_IP), 0);
	}
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, payload_guest_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(off_tells_when),
		TEST(on_waits_for_the_host),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
