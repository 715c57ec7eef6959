// SPDX-License-Identifier: GPL-2.0-or-later
/* test-payload-depth.c - when the payload has the host look at a stack. */
#include "tests/unit/payload-guest.h"

#define NMI 0x100000

static uint32_t depth_at(uint64_t sp)
{
	return (uint32_t)(GUEST_STACK - (sp & (GUEST_STACK - 1))) & (GUEST_STACK - 1);
}

static void limit(struct payload_guest *g, uint32_t depth)
{
	memcpy(g->window + WINDOW_DEPTH, &depth, sizeof(depth));
}

/*
 * Whether the host, which does not answer, is called from a stack that begins so far below the site
 * and is so much deeper than the limit. What tells where that is comes by here as well: so it is at
 * the same depth.
 */
static bool calls(struct payload_guest *g, uint32_t entry, uint64_t below, int32_t deeper)
{
	uint64_t head = *ctl64(g, CTL_HEAD), sp = 0;
	struct guest_regs regs = {.rflags = 0};

	limit(g, UINT32_MAX);
	for (int again = 0; again < 2; again++) {
		*ctl64(g, CTL_CALL_TSC) = 0;
		payload_guest_call(g, again ? entry : g->text.depth, &regs);
		assert_int_equal(g->percpu.preempt_count & 0xff, GUEST_PREEMPT);
		if (again)
			break;
		assert_int_equal(*ctl64(g, CTL_CALL_TSC), 0);
		assert_int_equal(*ctl64(g, CTL_HEAD), head);
		sp = regs.rsp - sizeof(uint64_t); /* where the site's call returns to */
		g->task.stack = sp - below;
		limit(g, depth_at(sp) - (uint32_t)deeper);
	}
	assert_int_equal(regs.rsp, sp + sizeof(uint64_t));
	return *ctl64(g, CTL_CALL_TSC) && *ctl64(g, CTL_CALL_SP) == regs.rsp;
}

static void test_limit(void **state)
{
	struct payload_guest *g = *state;

	assert_false(calls(g, g->text.depth, 4096, -8));
	assert_false(calls(g, g->text.depth, 4096, 0));
	assert_true(calls(g, g->text.depth, 4096, 1));
	assert_true(calls(g, g->text.depth, 4096, 8));
	assert_int_equal(*ctl64(g, CTL_HEAD), GUEST_LENGTH);
}

/* What it does not call for it records as ever. */
static void test_record(void **state)
{
	struct payload_guest *g = *state;
	uint64_t head = GUEST_LENGTH;

	assert_false(calls(g, g->text.depth_record, 4096, 0));
	payload_guest_record(g, head++);
	assert_true(calls(g, g->text.depth_record, 4096, 8)); /* the host records it */
	assert_int_equal(*ctl64(g, CTL_HEAD), head);
	*ctl32(g, CTL_CALL) = PAYLOAD_CALL_FILLING;
	assert_false(calls(g, g->text.depth_record, 4096, 8));
	payload_guest_record(g, head++);
	assert_false(calls(g, g->text.depth, 4096, 8));
	assert_int_equal(*ctl64(g, CTL_HEAD), head);
}

/* Only the stack of a task is asked about, and never from an NMI. */
static void test_other_stacks(void **state)
{
	struct payload_guest *g = *state;

	assert_true(calls(g, g->text.depth, 0, 8));
	assert_true(calls(g, g->text.depth, GUEST_STACK - 8, 8));
	assert_false(calls(g, g->text.depth, GUEST_STACK, 8));
	assert_false(calls(g, g->text.depth, (uint64_t)-8, 8));
	assert_false(calls(g, g->text.depth, UINT64_C(1) << 40, 8));
	g->percpu.preempt_count |= NMI;
	assert_false(calls(g, g->text.depth, 4096, 8));
}

static void test_no_stacks(void **state)
{
	struct payload_guest *g = *state;

	g->cfg.task_stack = PAYLOAD_NONE;
	payload_guest_load(g);
	assert_false(calls(g, g->text.depth, 4096, 8));
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, payload_guest_setup, payload_guest_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_limit),
		TEST(test_record),
		TEST(test_other_stacks),
		TEST(test_no_stacks),
	};

	return cmocka_run_group_tests_name("payload-depth", tests, NULL, NULL);
}
