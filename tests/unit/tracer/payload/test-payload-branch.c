// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test-payload-branch.c - the payload in the place of ftrace_likely_update(): which record it makes
 * of a likely() or unlikely() that comes out, and that the function goes on as it would have.
 */
#include "tests/unit/payload-guest.h"

#include <signal.h>
#include <ucontext.h>

#define FLAG_TRAP (1 << 8)

#define DATA 0xffffffff82345678

/* The function itself does nothing here but return. */
static int setup(void **state)
{
	int ret = payload_guest_setup(state);
	struct payload_guest *g = *state;

	g->window[WINDOW_TEXT + g->text.branch_rest] = 0xc3;
	return ret;
}

/* ftrace_likely_update(DATA, value, expected, is_constant) */
static void comes_out(struct payload_guest *g, uint64_t value, uint64_t expected, uint64_t constant)
{
	struct guest_regs regs = {
		.rdi = DATA, .rsi = value, .rdx = expected, .rcx = constant, .r8 = 5, .r9 = 6};

	payload_guest_call_with(g, g->text.branch, &regs);
	assert_int_equal(g->percpu.preempt_count, GUEST_PREEMPT);
}

static void is_branch(struct payload_guest *g, uint64_t nr, uint32_t bits)
{
	const struct payload_record *r = payload_guest_record(g, nr);

	assert_int_equal(r->state >> STATE_TYPE_SHIFT & STATE_TYPE_MASK, PAYLOAD_BRANCH);
	assert_int_equal(r->parent, (uint32_t)DATA | bits);
	assert_int_equal(r->task, g->task.pid);
	assert_int_equal(r->state & STATE_COUNT_MASK, GUEST_PREEMPT + 1);
	assert_int_equal(r->state & STATE_IRQS_OFF, 0);
	assert_int_not_equal(r->tsc, 0);
}

/* They are ints: the upper halves of their registers mean nothing. */
static void outcomes(void **state)
{
	static const struct {
		uint64_t value, expected, constant;
		uint32_t bits;
	} calls[] = {
		{1, 1, 0, BRANCH_RIGHT},
		{0, 0, 0, BRANCH_RIGHT},
		{0, 1, 0, 0},
		{1, 0, 0, 0},
		{0, 1, 1, BRANCH_RIGHT | BRANCH_CONSTANT},
		{1, 1, 1, BRANCH_RIGHT | BRANCH_CONSTANT},
		{UINT64_C(1) << 32, 0, 0, BRANCH_RIGHT},
		{1, UINT64_C(3) << 32 | 1, UINT64_C(1) << 32, BRANCH_RIGHT},
	};
	struct payload_guest *g = *state;

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		comes_out(g, calls[i].value, calls[i].expected, calls[i].constant);
		is_branch(g, GUEST_LENGTH + i, calls[i].bits);
		assert_int_equal(*ctl64(g, CTL_HEAD), GUEST_LENGTH + i + 1);
	}
}

static void nothing_while_off(void **state)
{
	struct payload_guest *g = *state;

	*ctl32(g, CTL_FLAGS) = 0;
	comes_out(g, 1, 1, 0);
	assert_int_equal(*ctl64(g, CTL_HEAD), GUEST_LENGTH);
}

/* Its task is told first. */
static void another_task(void **state)
{
	struct payload_guest *g = *state;
	const struct payload_record *r;

	g->task.pid = 77;
	comes_out(g, 0, 1, 0);
	r = payload_guest_record(g, GUEST_LENGTH);
	assert_int_equal(r->state >> STATE_TYPE_SHIFT & STATE_TYPE_MASK, PAYLOAD_COMM);
	assert_int_equal(r->comm_pid, 77);
	is_branch(g, GUEST_LENGTH + 1, 0);
}

/* Without a host that takes them. */
static void no_room(void **state)
{
	struct payload_guest *g = *state;

	payload_guest_wait(g, 1000);
	g->window[WINDOW_TEXT + g->text.branch_rest] = 0xc3;
	for (unsigned int i = 0; i < GUEST_LENGTH + 10; i++)
		comes_out(g, 1, 1, 0);
	assert_true(*ctl64(g, CTL_DROPPED) > 0);
	assert_int_equal(*ctl64(g, CTL_HEAD) - GUEST_LENGTH + *ctl64(g, CTL_DROPPED),
			 GUEST_LENGTH + 10);
}

static struct {
	struct payload_guest *g;
	unsigned int steps, bad;
} stepping;

/* Between two instructions: an interrupt, in which one comes out, too. */
static void interrupt(int sig, siginfo_t *info, void *context)
{
	const ucontext_t *c = context;
	struct payload_guest *g = stepping.g;
	uint32_t count = g->percpu.preempt_count;
	uint64_t off = (uint64_t)c->uc_mcontext.gregs[REG_RIP] - (uintptr_t)g->window - WINDOW_TEXT;
	bool is_rest = off - g->text.branch_rest < DETOUR_REST;
	struct guest_regs regs = {.rdi = DATA + 64, .rsi = 1, .rdx = 1};
	uint8_t site[16];

	(void)sig, (void)info;
	if (off >= g->text.size)
		return;
	stepping.steps++;
	stepping.bad += count < GUEST_PREEMPT;
	stepping.bad += count == GUEST_PREEMPT && !in_edge(&g->text, off) && !is_rest;
	stepping.bad += count != GUEST_PREEMPT && is_rest;
	memcpy(site, g->code, sizeof(site)); /* it is being executed */
	payload_guest_enter(&regs, payload_guest_function(g, 1, g->text.branch));
	stepping.bad += g->percpu.preempt_count != count || memcmp(site, g->code, sizeof(site));
}

/* Nobody is preempted in there but where a host can tell how he goes on. */
static void interrupted_anywhere(void **state)
{
	struct sigaction sa = {.sa_sigaction = interrupt, .sa_flags = SA_SIGINFO}, old;
	struct payload_guest *g = *state;
	struct guest_regs regs = {.rdi = DATA, .rsi = 0, .rdx = 1, .rflags = FLAG_TRAP};
	unsigned int ours = 0;

	stepping.g = g;
	stepping.steps = stepping.bad = 0;
	assert_int_equal(sigaction(SIGTRAP, &sa, &old), 0);
	payload_guest_enter(&regs, payload_guest_function(g, 0, g->text.branch));
	sigaction(SIGTRAP, &old, NULL);
	assert_true(stepping.steps > 30);
	assert_int_equal(stepping.bad, 0);
	assert_int_equal(g->percpu.preempt_count, GUEST_PREEMPT);
	assert_int_equal(*ctl64(g, CTL_HEAD), GUEST_LENGTH + stepping.steps + 1);
	for (unsigned int i = 0; i <= stepping.steps; i++) {
		const struct payload_record *r = payload_guest_record(g, GUEST_LENGTH + i);

		ours += r->parent == (uint32_t)DATA;
		if (r->parent != (uint32_t)DATA)
			assert_int_equal(r->parent, (uint32_t)(DATA + 64) | BRANCH_RIGHT);
	}
	assert_int_equal(ours, 1);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, payload_guest_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(outcomes), TEST(nothing_while_off),    TEST(another_task),
		TEST(no_room),	TEST(interrupted_anywhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
