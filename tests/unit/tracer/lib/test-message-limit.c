// SPDX-License-Identifier: GPL-2.0-or-later
/* test-message-limit.c - how often one place may say something, by a clock of the test's own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "tracer/lib/message-limit.h"

#define THREADS	   4
#define PER_THREAD 10000

static struct message_limit *l;
static int64_t now;
static const char here[] = "here", there[] = "there";

static int64_t fake_ms(void)
{
	return now;
}

static int set_up(void **state)
{
	(void)state;
	l = message_limit_new();
	assert_non_null(l);
	now = 5;
	l->now_ms = fake_ms;
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	message_limit_free(l);
	return 0;
}

/* How many of n messages may be said. */
static unsigned int said(const char *place, unsigned int n)
{
	unsigned int may = 0;
	char text[32];

	for (unsigned int i = 0; i < n; i++) {
		snprintf(text, sizeof(text), "number %u", i);
		may += message_limit_admit(l, place, text);
	}
	return may;
}

static void rest_is(bool all, const char *want)
{
	char line[MESSAGE_TEXT + 64] = "";

	if (!want) {
		assert_false(message_limit_rest(l, all, line, sizeof(line)));
		return;
	}
	assert_true(message_limit_rest(l, all, line, sizeof(line)));
	assert_string_equal(line, want);
}

static void few_are_said(void **state)
{
	(void)state;
	assert_int_equal(said(here, MESSAGE_LIMIT), MESSAGE_LIMIT);
	rest_is(false, NULL);
	rest_is(true, NULL);
	now += MESSAGE_PERIOD_MS;
	assert_int_equal(said(here, MESSAGE_LIMIT), MESSAGE_LIMIT);
	rest_is(true, NULL);
}

static void the_rest_is_told_when_the_period_is_over(void **state)
{
	(void)state;
	assert_int_equal(said(here, 81845), MESSAGE_LIMIT);
	now += MESSAGE_PERIOD_MS - 1;
	rest_is(false, NULL);
	assert_int_equal(said(here, 1), 0);
	now++;
	rest_is(false, "and 81836 more like this one: number 0");
	rest_is(false, NULL);
	assert_int_equal(said(here, 12), MESSAGE_LIMIT);
	rest_is(true, "and 2 more like this one: number 11");
	rest_is(true, NULL);
}

/* Not before it has been told. */
static void no_period_begins_over_a_rest(void **state)
{
	(void)state;
	said(here, 11);
	now += MESSAGE_PERIOD_MS;
	assert_int_equal(said(here, 3), 0);
	rest_is(false, "and 4 more like this one: number 2");
	assert_int_equal(said(here, 3), 3);
}

static void places_have_their_own(void **state)
{
	(void)state;
	assert_int_equal(said(here, 20), MESSAGE_LIMIT);
	assert_int_equal(said(there, 15), MESSAGE_LIMIT);
	rest_is(true, "and 10 more like this one: number 19");
	rest_is(true, "and 5 more like this one: number 14");
	rest_is(true, NULL);
}

static void more_places_than_there_is_room_for(void **state)
{
	static const char names[3 * MESSAGE_PLACES];
	unsigned int may = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(names); i++)
		may += said(&names[i], 1);
	assert_int_equal(may, MESSAGE_PLACES - 1 + MESSAGE_LIMIT);
}

static void *many(void *arg)
{
	unsigned int *may = arg;

	for (unsigned int i = 0; i < PER_THREAD; i++)
		*may += message_limit_admit(l, here, "text");
	return NULL;
}

static void threads_share_it(void **state)
{
	unsigned int may[THREADS] = {0}, sum = 0;
	pthread_t thread[THREADS];

	(void)state;
	for (unsigned int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, many, &may[i]), 0);
	for (unsigned int i = 0; i < THREADS; i++) {
		pthread_join(thread[i], NULL);
		sum += may[i];
	}
	assert_int_equal(sum, MESSAGE_LIMIT);
	rest_is(true, "and 39990 more like this one: text");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(few_are_said, set_up, tear_down),
		cmocka_unit_test_setup_teardown(the_rest_is_told_when_the_period_is_over, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(no_period_begins_over_a_rest, set_up, tear_down),
		cmocka_unit_test_setup_teardown(places_have_their_own, set_up, tear_down),
		cmocka_unit_test_setup_teardown(more_places_than_there_is_room_for, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(threads_share_it, set_up, tear_down),
	};

	return cmocka_run_group_tests_name("message-limit", tests, NULL, NULL);
}
