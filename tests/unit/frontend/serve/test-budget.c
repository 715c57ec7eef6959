// SPDX-License-Identifier: GPL-2.0-or-later
/* test-budget.c - how long a guest is left alone for what tracing has cost it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "frontend/serve/budget.h"

static int64_t pause_of(int64_t traced_ms, uint64_t stood_ms, double percent)
{
	const struct budget_cost c = {
		.traced_ms = traced_ms, .stood_ns = stood_ms * 1000000, .vcpus = 1};

	return budget_pause_ms(&c, percent);
}

/* What it has cost is then that part of the time in which it was traced and of the pause. */
static void test_pause(void **state)
{
	(void)state;
	assert_int_equal(pause_of(1000, 20, 2), 0);
	assert_int_equal(pause_of(1000, 40, 2), 1000);
	assert_int_equal(pause_of(1000, 100, 2), 4000);
	assert_int_equal(pause_of(1000, 3000, 50), 5000);
	assert_int_equal(pause_of(1000, 3000, 100), 2000);
}

static void test_no_limit(void **state)
{
	(void)state;
	assert_int_equal(pause_of(1000, 900000, 0), 0);
	assert_int_equal(pause_of(1000, 900000, -1), 0);
}

static void test_forgotten(void **state)
{
	const struct budget_cost all = {1, UINT64_MAX, UINT64_MAX, 1};

	(void)state;
	assert_int_equal(pause_of(1000, 1000000000, 0.001), BUDGET_PAUSE_MAX_MS);
	assert_int_equal(budget_pause_ms(&all, 1e-300), BUDGET_PAUSE_MAX_MS);
}

/* One that has stood, and was let go before anything was traced. */
static void test_not_traced(void **state)
{
	const struct budget_cost c = {.stood_ns = 100000000, .vcpus = 1};

	(void)state;
	assert_true(budget_ratio(&c) == 0);
	assert_int_equal(budget_pause_ms(&c, 10), 1000);
}

/* Records are made by all vCPUs beside each other; a guest has one at least. */
static void test_records(void **state)
{
	struct budget_cost c = {.traced_ms = 1000, .records = 4000000, .vcpus = 4};

	(void)state;
	assert_true(budget_ratio(&c) > 0.2499 && budget_ratio(&c) < 0.2501);
	assert_int_equal(budget_pause_ms(&c, 5), 4000);
	c.vcpus = 0;
	assert_true(budget_ratio(&c) > 0.999 && budget_ratio(&c) < 1.001);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pause),	  cmocka_unit_test(test_no_limit),
		cmocka_unit_test(test_forgotten), cmocka_unit_test(test_not_traced),
		cmocka_unit_test(test_records),
	};

	return cmocka_run_group_tests_name("budget", tests, NULL, NULL);
}
