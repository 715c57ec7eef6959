// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test-blk-plugs.c - of which device the plugs of a task are that has requests to several: as
 * blk_add_rq_to_plug() and blk_mq_dispatch_plug_list() of 6.1 and 6.12 go (block/blk-mq.c).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tracer/tracers/blk-plugs.h"

enum { A = 8 << 20, B = 9 << 20, C = 10 << 20, PID = 7, SMALL = 4096, BIG = 128 << 10 };

static struct blk_plugs *p;

static int last_comes_first(void **state)
{
	(void)state;
	p = blk_plugs_new(false);
	return p ? 0 : -1;
}

static int first_comes_first(void **state)
{
	(void)state;
	p = blk_plugs_new(true);
	return p ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	blk_plugs_free(p);
	return 0;
}

static void got_on(unsigned int vcpu, uint32_t device)
{
	blk_plugs_got(p, vcpu, PID, device, SMALL);
}

static void got(uint32_t device)
{
	got_on(0, device);
}

static uint32_t plug(void)
{
	uint32_t device = 0;

	assert_true(blk_plugs_plug(p, PID, &device));
	return device;
}

static uint32_t unplug(uint64_t depth)
{
	uint32_t device = 0;

	assert_true(blk_plugs_unplug(p, PID, depth, &device));
	return device;
}

/* The first one begins the plug. */
static void plugged(const uint32_t *devices, unsigned int n)
{
	got(devices[0]);
	assert_int_equal(plug(), devices[0]);
	for (unsigned int k = 1; k < n; k++)
		got(devices[k]);
}

static void unknown_tasks_have_none(void **state)
{
	uint32_t device;

	(void)state;
	assert_false(blk_plugs_plug(p, PID, &device));
	assert_false(blk_plugs_unplug(p, PID, 1, &device));
	blk_plugs_merged(p, PID, A, SMALL);
	assert_false(blk_plugs_plug(p, PID, &device));
	got(A);
	blk_plugs_forget(p);
	assert_false(blk_plugs_plug(p, PID, &device));
}

static void the_last_ones_go_first(void **state)
{
	const uint32_t devices[] = {A, B, C, A, B};

	(void)state;
	plugged(devices, 5);
	assert_int_equal(unplug(2), B);
	assert_int_equal(unplug(2), A);
	assert_int_equal(unplug(1), C);
	assert_int_equal(unplug(1), B); /* there are none: of the last one that it has got */
}

static void the_first_ones_go_first(void **state)
{
	const uint32_t devices[] = {A, B, C, A, B};

	(void)state;
	plugged(devices, 5);
	assert_int_equal(unplug(2), A);
	assert_int_equal(unplug(2), B);
	assert_int_equal(unplug(1), C);
}

/* Those that it has got on another vCPU are for another queue, and go apart. */
static void moved_once(void)
{
	got_on(1, A);
	plug();
	got_on(1, A);
	got_on(1, B);
	got_on(0, A);
	got_on(0, A);
}

static void the_last_queue_goes_first(void **state)
{
	(void)state;
	moved_once();
	assert_int_equal(unplug(2), A);
	assert_int_equal(unplug(1), B);
	assert_int_equal(unplug(2), A);
}

static void the_first_queue_goes_first(void **state)
{
	(void)state;
	got_on(1, B);
	plug();
	got_on(0, B);
	got_on(1, A);
	got_on(1, B);
	assert_int_equal(unplug(2), B);
	assert_int_equal(unplug(1), B);
	assert_int_equal(unplug(1), A);
}

/* One device's may go all at once. */
static void queues_may_go_together(void **state)
{
	(void)state;
	moved_once();
	assert_int_equal(unplug(4), A);
	assert_int_equal(unplug(1), B);
	assert_int_equal(unplug(1), A); /* there are none */
}

/* What there is no room for is not let go, but begins the next plug. */
static void so_many_are_kept_back(void **state)
{
	(void)state;
	got(A);
	plug();
	for (unsigned int k = 1; k < 32; k++)
		got(A);
	got(B);
	assert_int_equal(unplug(32), A);
	assert_int_equal(plug(), B);
	got(A);
	for (unsigned int k = 2; k < 64; k++)
		got(k < 40 ? A : B);
	got(C);
	assert_int_equal(unplug(25), B);
	assert_int_equal(unplug(39), A);
	assert_int_equal(plug(), C);
	assert_int_equal(unplug(1), C);
}

static void behind_a_big_one_no_more_are_kept_back(void **state)
{
	(void)state;
	got(A);
	plug();
	blk_plugs_got(p, 0, PID, A, BIG);
	got(B);
	assert_int_equal(unplug(2), A);
	assert_int_equal(plug(), B);
	got(A);
	got(B);
	blk_plugs_merged(p, PID, B, BIG - SMALL);
	got(A);
	assert_int_equal(unplug(2), B);
	assert_int_equal(unplug(1), A);
	assert_int_equal(plug(), A);
	got(B);
	blk_plugs_merged(p, PID, A, BIG); /* into another one */
	got(A);
	assert_int_equal(unplug(2), A);
	assert_int_equal(unplug(1), B);
}

/* More than there can be: some are not known, nothing else. */
static void any_number_is_taken(void **state)
{
	(void)state;
	got(A);
	plug();
	for (unsigned int k = 0; k < 1000; k++)
		got(k % 2 ? A : B);
	for (unsigned int k = 0; k < 100; k++)
		unplug(k);
	assert_int_equal(unplug(UINT64_MAX), A);
	blk_plugs_merged(p, PID, A, UINT32_MAX);
	blk_plugs_merged(p, PID, A, UINT32_MAX);
	got(C);
	assert_int_equal(plug(), C);
}

#define LAST(name)  cmocka_unit_test_setup_teardown(name, last_comes_first, tear_down)
#define FIRST(name) cmocka_unit_test_setup_teardown(name, first_comes_first, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		LAST(unknown_tasks_have_none),	   LAST(the_last_ones_go_first),
		FIRST(the_first_ones_go_first),	   LAST(the_last_queue_goes_first),
		FIRST(the_first_queue_goes_first), LAST(queues_may_go_together),
		LAST(so_many_are_kept_back),	   LAST(behind_a_big_one_no_more_are_kept_back),
		LAST(any_number_is_taken),	   FIRST(any_number_is_taken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
