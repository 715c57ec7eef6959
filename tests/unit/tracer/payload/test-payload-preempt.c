// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test-payload-preempt.c - the payload in the place of what changes the preempt count: what it does
 * instead, what it keeps, which windows it records; interrupted at each of its instructions, and
 * left by hand at its edges as quiesce.c does it.
 */
#include "tests/unit/all-regs.h"
#include "tests/unit/payload-guest.h"

#include <signal.h>
#include <stdlib.h>
#include <ucontext.h>
#include <x86intrin.h>

enum {
	NO_RESCHED = (int)0x80000000, /* set when no reschedule is due */
	SITE_MAX = 11,
	ORIGINAL = 512, /* in g->code: the instruction itself */
};

struct change {
	int32_t value;
	uint32_t entry;
};

enum { NR_CHANGES = 9 };

static struct change changes(const struct payload_guest *g, unsigned int n)
{
	const struct payload_text *t = &g->text;
	const struct change all_changes[NR_CHANGES] = {
		{1, t->preempt_inc},
		{-1, t->preempt_dec},
		{SOFTIRQ_DISABLE_OFFSET, t->bh_disable},
		{SOFTIRQ_DISABLE_OFFSET + 1, t->bh_lock},
		{-SOFTIRQ_DISABLE_OFFSET, t->bh_enable},
		{SOFTIRQ_OFFSET, t->softirq_enter},
		{-SOFTIRQ_OFFSET, t->softirq_exit},
		{HARDIRQ_OFFSET, t->hardirq_enter},
		{-HARDIRQ_OFFSET, t->hardirq_exit},
	};

	return all_changes[n];
}

static struct change change_of(const struct payload_guest *g, int32_t value)
{
	for (unsigned int n = 0; n < NR_CHANGES; n++)
		if (changes(g, n).value == value)
			return changes(g, n);
	abort();
}

/* addl $value, %gs:preempt_count(%rip), or incl and decl: its length. */
static size_t instruction_make(uint8_t *insn, int32_t value)
{
	static const uint8_t inc[] = {0x65, 0xff, 0x05}, dec[] = {0x65, 0xff, 0x0d},
			     add[] = {0x65, 0x81, 0x05};
	size_t len = value == 1 || value == -1 ? 7 : SITE_MAX;
	uint32_t disp =
		(uint32_t)(offsetof(struct guest_percpu, preempt_count) - (uintptr_t)(insn + len));

	memcpy(insn, value == 1 ? inc : value == -1 ? dec : add, 3);
	memcpy(insn + 3, &disp, 4);
	if (len == SITE_MAX)
		memcpy(insn + 7, &value, 4);
	return len;
}

/* A function that is nothing but this instruction. */
static void *original(struct payload_guest *g, int32_t value)
{
	uint8_t *at = g->code + ORIGINAL;

	at[instruction_make(at, value)] = 0xc3;
	return at;
}

/* One whose instruction calls the payload: a call as long as that, by prefixes that do nothing. */
static void *site_make(struct payload_guest *g, struct change c)
{
	size_t len = instruction_make(g->code, c.value), pad = len - 5;
	int32_t rel = (int32_t)(g->window + WINDOW_TEXT + c.entry - (g->code + len));

	memset(g->code, 0x2e, pad);
	g->code[pad] = 0xe8;
	memcpy(g->code + pad + 1, &rel, sizeof(rel));
	g->code[len] = 0xc3;
	return g->code;
}

static void change(struct payload_guest *g, int32_t value, struct all_regs *regs)
{
	*regs = all;
	exit_enter(regs, site_make(g, change_of(g, value)));
}

static void measure(struct payload_guest *g, uint32_t what, uint64_t min)
{
	*ctl32(g, CTL_CRITICAL) = what;
	*ctl64(g, CTL_CRITICAL_MIN) = min;
}

/* --- instead of the instruction -------------------------------------------------------------- */

static void check_effect(struct payload_guest *g, struct change c, uint32_t count, uint64_t flags)
{
	struct all_regs here = all, there = all;
	uint32_t after;

	here.flags = there.flags = flags | 2;
	g->percpu.preempt_count = count;
	exit_enter(&there, original(g, c.value));
	after = g->percpu.preempt_count;
	g->percpu.preempt_count = count;
	exit_enter(&here, site_make(g, c));
	assert_int_equal(g->percpu.preempt_count, after);
	assert_memory_equal(&here, &there, sizeof(here));
}

static void check_effects(struct payload_guest *g)
{
	static const uint32_t counts[] = {0, 1, 2, 0xff, 0x100, 0x200, 0x201, 0x10000, 0x10001};

	for (unsigned int i = 0; i < NR_CHANGES; i++)
		for (size_t k = 0; k < 2 * sizeof(counts) / sizeof(counts[0]); k++) {
			uint32_t count = counts[k / 2] | (k & 1 ? (uint32_t)NO_RESCHED : 0);

			check_effect(g, changes(g, i), count, 0);
			check_effect(g, changes(g, i), count, FLAG_ARITHMETIC);
		}
}

static void test_effects(void **state)
{
	struct payload_guest *g = *state;

	check_effects(g);
	measure(g, CRITICAL_PREEMPT, UINT64_MAX);
	check_effects(g);
	assert_int_equal(*ctl64(g, CTL_HEAD), GUEST_LENGTH);
	measure(g, CRITICAL_PREEMPT, 0);
	check_effects(g);
	assert_true(*ctl64(g, CTL_HEAD) > GUEST_LENGTH);
	measure(g, CRITICAL_PREEMPT | CRITICAL_IRQS, 0);
	g->task.pid = 99; /* whose name is told first */
	check_effects(g);
}

/* --- windows --------------------------------------------------------------------------------- */

static uint32_t low(uint64_t v)
{
	return (uint32_t)v;
}

static void check_window(struct payload_guest *g, int32_t raise, int32_t lower)
{
	uint64_t head = *ctl64(g, CTL_HEAD), before = __rdtsc();
	const struct payload_record *off, *on;
	struct all_regs regs;

	g->percpu.preempt_count = (uint32_t)NO_RESCHED;
	change(g, raise, &regs);
	assert_int_equal(*ctl64(g, CTL_HEAD), head);
	g->percpu.preempt_count = (uint32_t)NO_RESCHED - (uint32_t)lower;
	change(g, lower, &regs);
	assert_int_equal(g->percpu.preempt_count, (uint32_t)NO_RESCHED);
	assert_int_equal(*ctl64(g, CTL_HEAD), head + 2);
	off = payload_guest_record(g, head);
	on = payload_guest_record(g, head + 1);
	assert_in_range(off->tsc, before, on->tsc);
	assert_in_range(on->tsc, off->tsc, __rdtsc());
	assert_in_range(off->ip, low((uintptr_t)g->code), low((uintptr_t)g->code) + SITE_MAX - 1);
	assert_in_range(on->ip, low((uintptr_t)g->code), low((uintptr_t)g->code) + SITE_MAX - 1);
	assert_int_equal(off->sp, low(regs.rsp));
	assert_int_equal(on->sp, low(regs.rsp));
	assert_int_equal(off->task, 1234 | 5 << RECORD_MIGRATE_SHIFT);
	assert_int_equal(on->task, off->task);
	/* The count as it is within the window. */
	assert_int_equal(off->state,
			 (uint32_t)(NO_RESCHED + raise) | PAYLOAD_PREEMPT_OFF << STATE_TYPE_SHIFT);
	assert_int_equal(on->state, ((uint32_t)NO_RESCHED - (uint32_t)lower) |
					    (uint32_t)PAYLOAD_PREEMPT_ON << STATE_TYPE_SHIFT);
	assert_int_equal(on->parent, 0);
}

static void test_windows(void **state)
{
	struct payload_guest *g = *state;

	g->task.migration_disabled = 5;
	g->task.other = 0xffff;
	measure(g, CRITICAL_PREEMPT, 0);
	check_window(g, 1, -1);
	check_window(g, SOFTIRQ_DISABLE_OFFSET, -1);
	check_window(g, SOFTIRQ_DISABLE_OFFSET + 1, -SOFTIRQ_DISABLE_OFFSET);
	check_window(g, SOFTIRQ_OFFSET, -SOFTIRQ_OFFSET);
	check_window(g, HARDIRQ_OFFSET, -HARDIRQ_OFFSET);
	measure(g, CRITICAL_PREEMPT | CRITICAL_IRQS, 0); /* they are on */
	check_window(g, 1, -1);
}

/* A raise and a lowering between these two counts. */
static void raise_and_lower(struct payload_guest *g, uint32_t count)
{
	struct all_regs regs;

	g->percpu.preempt_count = count;
	change(g, 1, &regs);
	change(g, -1, &regs);
	assert_int_equal(g->percpu.preempt_count, count);
}

static void test_no_windows(void **state)
{
	struct payload_guest *g = *state;
	struct all_regs regs;

	measure(g, CRITICAL_PREEMPT, 0);
	raise_and_lower(g, 1);
	raise_and_lower(g, (uint32_t)NO_RESCHED + HARDIRQ_OFFSET);
	g->percpu.preempt_count = 1; /* one that began before there was something to measure */
	change(g, -1, &regs);
	measure(g, CRITICAL_PREEMPT, UINT64_MAX); /* too short */
	raise_and_lower(g, 0);
	measure(g, CRITICAL_IRQS, 0);
	raise_and_lower(g, 0);
	measure(g, 0, 0);
	raise_and_lower(g, 0);
	assert_int_equal(*ctl64(g, CTL_HEAD), GUEST_LENGTH);
}

/* --- in the place of calls ------------------------------------------------------------------- */

static void call_entry(struct payload_guest *g, uint32_t entry, uint32_t value)
{
	uint32_t count = g->percpu.preempt_count;
	struct all_regs regs = all, before;

	regs.rdi = entry == g->text.bh_disable_call ? 0x1234 : value;
	regs.rsi = entry == g->text.bh_disable_call ? value : 0x1234;
	before = regs;
	exit_enter(&regs, payload_guest_function(g, 0, entry));
	/* The function would change it: that is not there. */
	assert_int_equal(g->percpu.preempt_count, count);
	before.rax = regs.rax;
	before.rcx = regs.rcx;
	assert_memory_equal(&regs, &before, offsetof(struct all_regs, flags));
}

static void check_calls(struct payload_guest *g, uint32_t raise, uint32_t value)
{
	uint64_t head = *ctl64(g, CTL_HEAD);
	const struct payload_record *off, *on;

	g->percpu.preempt_count = (uint32_t)NO_RESCHED;
	call_entry(g, raise, value);
	g->percpu.preempt_count += value;
	call_entry(g, raise, 1);
	g->percpu.preempt_count++;
	call_entry(g, g->text.count_sub, 1);
	g->percpu.preempt_count--;
	assert_int_equal(*ctl64(g, CTL_HEAD), head);
	call_entry(g, g->text.count_sub, value);
	assert_int_equal(*ctl64(g, CTL_HEAD), head + 2);
	off = payload_guest_record(g, head);
	on = payload_guest_record(g, head + 1);
	assert_int_equal(off->ip, low((uintptr_t)g->code));
	assert_int_equal(on->ip, low((uintptr_t)g->code));
	assert_int_equal(off->state,
			 ((uint32_t)NO_RESCHED + value) | PAYLOAD_PREEMPT_OFF << STATE_TYPE_SHIFT);
	assert_int_equal(on->state, ((uint32_t)NO_RESCHED + value) | (uint32_t)PAYLOAD_PREEMPT_ON
									     << STATE_TYPE_SHIFT);
}

static void test_calls(void **state)
{
	struct payload_guest *g = *state;

	g->code[ORIGINAL] = 0xc3;
	g->cfg.count_add = g->cfg.count_sub = g->cfg.bh_disable = (uintptr_t)g->code + ORIGINAL;
	payload_guest_load(g);
	measure(g, CRITICAL_PREEMPT, 0);
	check_calls(g, g->text.count_add, 1);
	check_calls(g, g->text.count_add, HARDIRQ_OFFSET);
	check_calls(g, g->text.bh_disable_call, SOFTIRQ_DISABLE_OFFSET);
}

/* --- idle ------------------------------------------------------------------------------------ */

static void test_idle(void **state)
{
	struct payload_guest *g = *state;
	struct all_regs regs = all;

	/* What is behind the call of these two. */
	g->code[ORIGINAL] = 0xc3;
	g->cfg.idle_enter = g->cfg.idle_exit = (uintptr_t)g->code + ORIGINAL;
	payload_guest_load(g);
	measure(g, CRITICAL_PREEMPT, 0);
	g->percpu.preempt_count = 0;
	change(g, 1, &regs);
	exit_enter(&regs, payload_guest_function(g, 0, g->text.idle));
	assert_int_equal(*ctl64(g, CTL_HEAD), GUEST_LENGTH + 2);
	/* An interrupt meanwhile */
	change(g, HARDIRQ_OFFSET, &regs);
	change(g, -HARDIRQ_OFFSET, &regs);
	assert_int_equal(*ctl64(g, CTL_HEAD), GUEST_LENGTH + 2);
	exit_enter(&regs, payload_guest_function(g, 0, g->text.idle_exit));
	change(g, -1, &regs);
	assert_int_equal(*ctl64(g, CTL_HEAD), GUEST_LENGTH + 4);
	assert_int_equal(payload_guest_record(g, GUEST_LENGTH + 2)->ip, low((uintptr_t)g->code));
}

/* --- interrupted ----------------------------------------------------------------------------- */

static struct {
	struct payload_guest *g;
	unsigned int steps, bad, evicted;
	struct change change;
	uint32_t before, after; /* the instruction */
	bool nest;
	uint64_t evict_at; /* offset in the code; UINT64_MAX: nowhere */
} stepping;

/* An interrupt, which has sites of its own: its windows are whole, or it is in one. */
static void interrupt(struct payload_guest *g)
{
	uint32_t count = g->percpu.preempt_count;
	struct change c = change_of(g, HARDIRQ_OFFSET);
	void (*enter)(void), (*leave)(void);
	uint8_t *entry = g->window + WINDOW_TEXT + c.entry;

	memcpy(&enter, &entry, sizeof(enter));
	entry = g->window + WINDOW_TEXT + change_of(g, -HARDIRQ_OFFSET).entry;
	memcpy(&leave, &entry, sizeof(leave));
	enter();
	stepping.bad += g->percpu.preempt_count != count + HARDIRQ_OFFSET;
	leave();
	stepping.bad += g->percpu.preempt_count != count;
}

/* As frame_evict() in quiesce.c; the site has its instruction back. */
static void evict(greg_t *regs, const struct payload_way_out *edge)
{
	regs[REG_RIP] = *(const greg_t *)regs[REG_RSP];
	if (EDGE_KIND(edge->how) == EDGE_REDO) {
		instruction_make(stepping.g->code, stepping.change.value);
		regs[REG_RIP] -= EDGE_SITE_OF(edge->how);
	}
	regs[REG_RSP] += 8;
	stepping.evicted++;
}

static void step(int sig, siginfo_t *info, void *context)
{
	greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;
	struct payload_guest *g = stepping.g;
	uint64_t off = (uint64_t)regs[REG_RIP] - (uintptr_t)g->window - WINDOW_TEXT;
	uint32_t count = g->percpu.preempt_count;

	(void)sig;
	(void)info;
	if (off >= g->text.size)
		return;
	stepping.steps++;
	stepping.bad += count != stepping.before && count != stepping.after;
	/* A task that can be preempted is at an edge. */
	stepping.bad += !(count & ~(uint32_t)NO_RESCHED) && !in_edge(&g->text, off);
	if (off == stepping.evict_at)
		for (uint32_t i = 0; i < g->text.nr_edges; i++)
			if (off >= g->text.edge[i].from && off < g->text.edge[i].to)
				evict(regs, &g->text.edge[i]);
	if (stepping.nest)
		interrupt(g);
}

/* The change from or to zero. False: it never came to evict_at. */
static bool step_through(struct payload_guest *g, struct change c, bool nest, uint64_t evict_at)
{
	struct sigaction sa = {.sa_sigaction = step, .sa_flags = SA_SIGINFO}, old;
	struct all_regs regs = all;

	memset(&stepping, 0, sizeof(stepping));
	stepping.g = g;
	stepping.change = c;
	stepping.before =
		c.value > 0 ? (uint32_t)NO_RESCHED : (uint32_t)NO_RESCHED - (uint32_t)c.value;
	stepping.after = stepping.before + (uint32_t)c.value;
	stepping.nest = nest;
	stepping.evict_at = evict_at;
	g->percpu.preempt_count = stepping.before;
	regs.flags = FLAG_TRAP | FLAG_ARITHMETIC | 2;
	assert_int_equal(sigaction(SIGTRAP, &sa, &old), 0);
	exit_enter(&regs, site_make(g, c));
	assert_int_equal(sigaction(SIGTRAP, &old, NULL), 0);
	assert_int_equal(stepping.bad, 0);
	assert_int_equal(g->percpu.preempt_count, stepping.after);
	assert_memory_equal(&regs, &all, offsetof(struct all_regs, flags));
	return stepping.evicted;
}

/* Wherever there are interrupts in between, all windows are whole ones. */
static void check_steps(struct payload_guest *g, int32_t value)
{
	uint64_t head;

	*ctl64(g, CTL_HEAD) = GUEST_LENGTH;
	assert_false(step_through(g, change_of(g, value), true, UINT64_MAX));
	assert_true(stepping.steps > 30);
	head = *ctl64(g, CTL_HEAD);
	for (uint64_t nr = GUEST_LENGTH; nr < head; nr++)
		assert_int_equal(payload_guest_record(g, nr)->state >> STATE_TYPE_SHIFT & 15,
				 nr & 1 ? PAYLOAD_PREEMPT_ON : PAYLOAD_PREEMPT_OFF);
}

static void test_steps(void **state)
{
	struct payload_guest *g = *state;

	measure(g, CRITICAL_PREEMPT, 0);
	for (unsigned int i = 0; i < 3; i++) {
		check_steps(g, 1);
		check_steps(g, -1);
		check_steps(g, SOFTIRQ_DISABLE_OFFSET);
	}
}

static unsigned int evictions(struct payload_guest *g, int32_t value)
{
	unsigned int n = 0;

	for (uint64_t off = 0; off < g->text.size; off++)
		if (in_edge(&g->text, off))
			n += step_through(g, change_of(g, value), false, off);
	return n;
}

/* Every instruction at which a task can be preempted can be left by hand. */
static void test_evictions(void **state)
{
	struct payload_guest *g = *state;

	measure(g, CRITICAL_PREEMPT, 0);
	for (unsigned int i = 0; i < NR_CHANGES; i++)
		assert_int_equal(evictions(g, changes(g, i).value), 1);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, payload_guest_setup, payload_guest_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_effects), TEST(test_windows), TEST(test_no_windows), TEST(test_calls),
		TEST(test_idle),    TEST(test_steps),	TEST(test_evictions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
