// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test-payload-exit.c - the payload in the place of returns: what it records, what it keeps, where
 * it goes on; interrupted at each of its instructions, and left by hand at its edges as quiesce.c
 * does it.
 */
#include "tests/unit/all-regs.h"
#include "tests/unit/payload-guest.h"

#include <signal.h>
#include <stdlib.h>
#include <ucontext.h>
#include <x86intrin.h>

enum {
	RETURN_AT = 1024, /* in g->code: what stands for the kernel's return thunk */
};

#define NO_RESCHED UINT32_C(0x80000000) /* of preempt_count: clear when one is wanted */

/* What a caller of a C function finds again. */
static void assert_kept_for_c(const struct all_regs *regs)
{
	assert_int_equal(regs->rax, all.rax);
	assert_int_equal(regs->rdx, all.rdx);
	assert_int_equal(regs->rbx, all.rbx);
	assert_int_equal(regs->rbp, all.rbp);
	assert_int_equal(regs->r12, all.r12);
	assert_int_equal(regs->r13, all.r13);
	assert_int_equal(regs->r14, all.r14);
	assert_int_equal(regs->r15, all.r15);
}

/* All but rsp and the flags. */
static void assert_all_kept(const struct all_regs *regs)
{
	assert_memory_equal(regs, &all, offsetof(struct all_regs, flags));
}

static void exit_from(struct payload_guest *g, uint32_t entry, struct all_regs *regs)
{
	*regs = all;
	exit_enter(regs, payload_guest_function(g, 0, entry));
	assert_int_equal(g->percpu.preempt_count, GUEST_PREEMPT);
}

static uint32_t low(uint64_t v)
{
	return (uint32_t)v;
}

/* --- records --------------------------------------------------------------------------------- */

static void check_record(struct payload_guest *g, uint32_t entry)
{
	const struct payload_record *r;
	uint64_t before = __rdtsc();
	struct all_regs regs;

	g->percpu.preempt_count = GUEST_PREEMPT;
	g->task.migration_disabled = 5;
	g->task.other = 0xffff;
	exit_from(g, entry, &regs);
	r = payload_guest_record(g, *ctl64(g, CTL_HEAD) - 1);
	assert_in_range(r->tsc, before, __rdtsc());
	assert_int_equal(r->ip, low((uintptr_t)g->code));
	assert_int_equal(r->sp, low(regs.rsp));
	assert_int_equal(r->task, 1234 | 5 << RECORD_MIGRATE_SHIFT);
	assert_int_equal(r->state, GUEST_PREEMPT | PAYLOAD_EXIT << STATE_TYPE_SHIFT);
}

static void test_record(void **state)
{
	struct payload_guest *g = *state;

	check_record(g, g->text.exit);
	assert_int_equal(*ctl64(g, CTL_HEAD), GUEST_LENGTH + 1);
	check_record(g, g->text.exit_all);
	assert_int_equal(*ctl64(g, CTL_HEAD), GUEST_LENGTH + 2);
}

/* The place of the return address is the same at the entry and at the exit. */
static void test_entry_and_exit_meet(void **state)
{
	struct payload_guest *g = *state;
	struct all_regs regs = all;
	uint8_t *function = payload_guest_function(g, 0, g->text.function);
	uint8_t *site = payload_guest_function(g, 1, g->text.exit);
	int32_t rel;

	/* A function of an fentry site and a return site. */
	memmove(function + 5, site, 5);
	memcpy(&rel, site + 1, sizeof(rel));
	rel += (int32_t)(site - (function + 5));
	memcpy(function + 6, &rel, sizeof(rel));
	exit_enter(&regs, function);
	assert_int_equal(payload_guest_record(g, GUEST_LENGTH)->sp,
			 payload_guest_record(g, GUEST_LENGTH + 1)->sp);
	assert_int_equal(payload_guest_record(g, GUEST_LENGTH + 1)->ip,
			 low((uintptr_t)function + 5));
}

static void check_kept(struct payload_guest *g)
{
	struct all_regs regs;

	exit_from(g, g->text.exit, &regs);
	assert_kept_for_c(&regs);
	for (unsigned int i = 0; i < 2; i++) {
		exit_from(g, g->text.exit_all, &regs);
		assert_all_kept(&regs);
	}
}

static void test_kept(void **state)
{
	struct payload_guest *g = *state;

	check_kept(g);
	*ctl32(g, CTL_FLAGS) = 0;
	check_kept(g);
	assert_int_equal(*ctl64(g, CTL_HEAD), GUEST_LENGTH + 3);
	*ctl32(g, CTL_FLAGS) = CTL_FL_ON | CTL_FL_PIDS;
	check_kept(g);
	assert_int_equal(*ctl64(g, CTL_HEAD), GUEST_LENGTH + 3);
	g->window[WINDOW_PIDS + 1234 / 8] |= 1 << (1234 & 7);
	check_kept(g);
	assert_int_equal(*ctl64(g, CTL_HEAD), GUEST_LENGTH + 6);
	*ctl32(g, CTL_FLAGS) = CTL_FL_ON;
	payload_guest_wait(g, 1000000);
	*ctl64(g, CTL_TAIL) = *ctl64(g, CTL_HEAD) - GUEST_LENGTH;
	check_kept(g);
	assert_int_equal(*ctl64(g, CTL_DROPPED), 3);
	payload_guest_wait(g, PAYLOAD_NONE);
	g->task.pid = 99; /* whose name comes first */
	check_kept(g);
	assert_int_equal(*ctl64(g, CTL_HEAD), GUEST_LENGTH + 10);
	assert_int_equal(payload_guest_record(g, GUEST_LENGTH + 6)->comm_pid, 99);
}

/* --- the kernel's own return ----------------------------------------------------------------- */

/* Counts itself, and changes nothing else. */
static void thunk_make(struct payload_guest *g, uint64_t *count)
{
	static const uint8_t insns[] = {
		0x50,			      /* push %rax */
		0x48, 0x8b, 0x05, 0, 0, 0, 0, /* mov count(%rip), %rax */
		0x48, 0x8d, 0x40, 1,	      /* lea 1(%rax), %rax */
		0x48, 0x89, 0x05, 0, 0, 0, 0, /* mov %rax, count(%rip) */
		0x58,			      /* pop %rax */
		0xc3,
	};
	uint8_t *at = g->code + RETURN_AT;

	memcpy(at, insns, sizeof(insns));
	for (size_t end = 8; end <= 19; end += 11) {
		int32_t rel = (int32_t)((uint8_t *)count - (at + end));

		memcpy(at + end - 4, &rel, sizeof(rel));
	}
	g->cfg.return_thunk = (uintptr_t)at;
	payload_guest_load(g);
}

static void test_thunk(void **state)
{
	struct payload_guest *g = *state;
	uint64_t *count = (uint64_t *)(void *)(g->code + RETURN_AT + 64);

	thunk_make(g, count);
	*ctl32(g, CTL_FLAGS) = CTL_FL_ON;
	check_record(g, g->text.exit);
	assert_int_equal(*count, 1);
	check_record(g, g->text.exit_all);
	assert_int_equal(*count, 2);
	*ctl32(g, CTL_FLAGS) = 0;
	check_kept(g);
	assert_int_equal(*count, 5);
}

/* --- interrupted ----------------------------------------------------------------------------- */

static struct {
	struct payload_guest *g;
	unsigned int steps, bad, evicted;
	unsigned int flip_at; /* the step at which NO_RESCHED changes; 0: none */
	bool nest;
	uint64_t evict_at; /* offset in the code; UINT64_MAX: nowhere */
} stepping;

static void nested(struct payload_guest *g, uint32_t entry)
{
	void *site = payload_guest_function(g, 2, entry);
	uint64_t head = *ctl64(g, CTL_HEAD);
	void (*fn)(void);

	memcpy(&fn, &site, sizeof(fn));
	fn();
	stepping.bad += *ctl64(g, CTL_HEAD) != head + 1;
}

/* As frame_evict() in quiesce.c; the site has its return back. */
static void evict(greg_t *regs, const struct payload_way_out *edge)
{
	regs[REG_RIP] = *(const greg_t *)regs[REG_RSP];
	if (edge->how == EDGE_REDO) {
		regs[REG_RIP] -= 5;
		*stepping.g->code = 0xc3;
	}
	regs[REG_RSP] += 8;
	stepping.evicted++;
}

static void step(int sig, siginfo_t *info, void *context)
{
	greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;
	struct payload_guest *g = stepping.g;
	uint64_t off = (uint64_t)regs[REG_RIP] - (uintptr_t)g->window - WINDOW_TEXT;
	uint32_t count = g->percpu.preempt_count & ~NO_RESCHED;

	(void)sig;
	(void)info;
	if (off >= g->text.size)
		return;
	if (++stepping.steps == stepping.flip_at)
		g->percpu.preempt_count ^= NO_RESCHED;
	stepping.bad += count != (in_edge(&g->text, off) ? GUEST_PREEMPT : GUEST_PREEMPT + 1U);
	if (off == stepping.evict_at)
		for (uint32_t i = 0; i < g->text.nr_edges; i++)
			if (off >= g->text.edge[i].from && off < g->text.edge[i].to)
				evict(regs, &g->text.edge[i]);
	if (!stepping.nest)
		return;
	nested(g, g->text.exit);
	nested(g, g->text.function);
	nested(g, g->text.exit_all);
}

static void step_all(struct payload_guest *g, uint32_t entry)
{
	struct sigaction sa = {.sa_sigaction = step, .sa_flags = SA_SIGINFO}, old;
	struct all_regs regs = all;

	stepping.g = g;
	regs.flags = FLAG_TRAP | FLAG_ARITHMETIC | 2;
	assert_int_equal(sigaction(SIGTRAP, &sa, &old), 0);
	exit_enter(&regs, payload_guest_function(g, 0, entry));
	assert_int_equal(sigaction(SIGTRAP, &old, NULL), 0);
	assert_int_equal(stepping.bad, 0);
	assert_int_equal(g->percpu.preempt_count,
			 GUEST_PREEMPT | (stepping.flip_at ? NO_RESCHED : 0));
	if (entry == g->text.exit_all)
		assert_all_kept(&regs);
	else
		assert_kept_for_c(&regs);
	g->percpu.preempt_count = GUEST_PREEMPT;
}

/* False: it never came to evict_at. */
static bool step_through(struct payload_guest *g, uint32_t entry, bool nest, uint64_t evict_at)
{
	memset(&stepping, 0, sizeof(stepping));
	stepping.nest = nest;
	stepping.evict_at = evict_at;
	step_all(g, entry);
	return stepping.evicted;
}

static void check_steps(struct payload_guest *g, uint32_t entry)
{
	unsigned int outer = 0;
	uint64_t head;

	assert_false(step_through(g, entry, true, UINT64_MAX));
	assert_true(stepping.steps > 30);
	/* Its own among all the others, which are whole, too. */
	head = *ctl64(g, CTL_HEAD);
	assert_in_range(head, GUEST_LENGTH + 90, 2 * GUEST_LENGTH - 1);
	for (uint64_t nr = GUEST_LENGTH; nr < head; nr++) {
		const struct payload_record *r = payload_guest_record(g, nr);

		if (r->ip != low((uintptr_t)g->code))
			continue;
		assert_int_equal(r->state, GUEST_PREEMPT | PAYLOAD_EXIT << STATE_TYPE_SHIFT);
		outer++;
	}
	assert_int_equal(outer, 1);
}

static void test_steps(void **state)
{
	struct payload_guest *g = *state;

	check_steps(g, g->text.exit);
}

static void test_steps_all(void **state)
{
	struct payload_guest *g = *state;

	check_steps(g, g->text.exit_all);
}

/* What an interrupt changes of preempt_count stays changed, wherever it comes. */
static void check_resched(struct payload_guest *g, uint32_t entry)
{
	unsigned int steps;

	assert_false(step_through(g, entry, false, UINT64_MAX));
	steps = stepping.steps;
	assert_true(steps > 30);
	for (unsigned int at = 1; at <= steps; at++) {
		memset(&stepping, 0, sizeof(stepping));
		stepping.flip_at = at;
		stepping.evict_at = UINT64_MAX;
		step_all(g, entry);
		assert_int_equal(stepping.steps, steps);
	}
}

static void test_resched(void **state)
{
	struct payload_guest *g = *state;

	check_resched(g, g->text.exit);
	check_resched(g, g->text.exit_all);
}

/* Every instruction outside of the raised preempt_count can be left by hand. */
static void test_evictions(void **state)
{
	struct payload_guest *g = *state;
	const uint32_t entries[] = {g->text.exit, g->text.exit_all};
	unsigned int evicted[2] = {0};

	for (size_t e = 0; e < 2; e++)
		for (uint64_t off = 0; off < g->text.size; off++)
			if (in_edge(&g->text, off))
				evicted[e] += step_through(g, entries[e], false, off);
	assert_int_equal(evicted[0], 4); /* the first three and the last one */
	assert_int_equal(evicted[1], 2);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, payload_guest_setup, payload_guest_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_record),  TEST(test_entry_and_exit_meet),
		TEST(test_kept),    TEST(test_thunk),
		TEST(test_steps),   TEST(test_steps_all),
		TEST(test_resched), TEST(test_evictions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
