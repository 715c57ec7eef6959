// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test-payload-flags.c - the payload where interrupts go off and on: which windows it records, what
 * it keeps. This process has no interrupts: cli and sti fault, and are done to a flag of the
 * test's, which is put into what pushf stores, step by step.
 */
#include "tests/unit/all-regs.h"
#include "tests/unit/payload-guest.h"

#include <signal.h>
#include <ucontext.h>

enum {
	IF = 1 << 9,
	KERNEL_CS = 0x10,
	USER_CS = 0x33,
	TARGET = 512,  /* in g->code: what functions of the kernel's are */
	IRQ_EXIT = 64, /* likewise: one with struct pt_regs on its stack */
	SITE_SIZE = 6,
	POPF = 0x9d,
};

static struct {
	struct payload_guest *g;
	bool irqs; /* are on */
	unsigned int changes;
} cpu;

static void fault(int sig, siginfo_t *info, void *context)
{
	greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;
	uint8_t insn = *(const uint8_t *)regs[REG_RIP];

	(void)info;
	if (insn != 0xfa && insn != 0xfb) {
		signal(sig, SIG_DFL);
		return;
	}
	cpu.irqs = insn == 0xfb;
	cpu.changes++;
	regs[REG_RIP]++;
}

static void step(int sig, siginfo_t *info, void *context)
{
	greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;
	uint64_t off = (uint64_t)regs[REG_RIP] - (uintptr_t)cpu.g->window - WINDOW_TEXT;
	uint64_t *pushed = (uint64_t *)regs[REG_RSP];

	(void)sig;
	(void)info;
	if (off == cpu.g->text.cli + 1 || off == cpu.g->text.sti + 1 ||
	    off == cpu.g->text.moved_cli + 1 || off == cpu.g->text.moved_sti + 1 ||
	    off == cpu.g->text.moved_exit + 1)
		*pushed = cpu.irqs ? *pushed | IF : *pushed & ~(uint64_t)IF;
	/* popf cannot change the flag here, either. */
	if (off - cpu.g->text.moved_cli < cpu.g->text.irq_entry - cpu.g->text.moved_cli &&
	    *(const uint8_t *)regs[REG_RIP] == POPF)
		cpu.irqs = *pushed & IF;
}

static void put_call(uint8_t *at, uintptr_t target)
{
	int32_t rel = (int32_t)(target - ((uintptr_t)at + 5));

	*at = 0xe8;
	memcpy(at + 1, &rel, sizeof(rel));
}

/* A site of six bytes at g->code, a call of the payload with a prefix. */
static void enter_site(struct payload_guest *g, uint32_t entry, struct all_regs *regs)
{
	g->code[0] = 0x2e;
	put_call(g->code + 1, (uintptr_t)g->window + WINDOW_TEXT + entry);
	g->code[SITE_SIZE] = 0xc3;
	exit_enter(regs, g->code);
}

/* cli or sti: all is kept but %rax and the arithmetic flags. */
static void change(struct payload_guest *g, uint32_t entry)
{
	struct sigaction on_fault = {.sa_sigaction = fault, .sa_flags = SA_SIGINFO},
			 on_step = {.sa_sigaction = step, .sa_flags = SA_SIGINFO}, old;
	struct all_regs regs = all;

	regs.flags |= FLAG_TRAP;
	sigaction(SIGSEGV, &on_fault, &old); /* cmocka has one of its own in each test */
	sigaction(SIGTRAP, &on_step, NULL);
	enter_site(g, entry, &regs);
	sigaction(SIGSEGV, &old, NULL);
	signal(SIGTRAP, SIG_DFL);
	regs.rax = all.rax;
	regs.flags = all.flags;
	assert_memory_equal(&regs, &all, offsetof(struct all_regs, rsp));
}

/* Where it has moved nothing at all is changed. The stack pointer at the site. */
static uint32_t change_moved(struct payload_guest *g, uint32_t entry)
{
	struct sigaction on_fault = {.sa_sigaction = fault, .sa_flags = SA_SIGINFO},
			 on_step = {.sa_sigaction = step, .sa_flags = SA_SIGINFO}, old;
	struct all_regs regs = all;

	regs.flags |= FLAG_TRAP;
	sigaction(SIGSEGV, &on_fault, &old);
	sigaction(SIGTRAP, &on_step, NULL);
	enter_site(g, entry, &regs);
	sigaction(SIGSEGV, &old, NULL);
	signal(SIGTRAP, SIG_DFL);
	regs.flags = (regs.flags & ~(uint64_t)(FLAG_TRAP | IF)) | (all.flags & (FLAG_TRAP | IF));
	assert_memory_equal(&regs, &all, offsetof(struct all_regs, rsp));
	return (uint32_t)regs.rsp;
}

static void cli(struct payload_guest *g)
{
	change(g, g->text.cli);
	assert_false(cpu.irqs);
}

static void sti(struct payload_guest *g)
{
	change(g, g->text.sti);
	assert_true(cpu.irqs);
}

static void measure(struct payload_guest *g, uint32_t what, uint64_t min)
{
	*ctl32(g, CTL_CRITICAL) = what;
	*ctl64(g, CTL_CRITICAL_MIN) = min;
}

static int setup(void **state)
{
	int ret = payload_guest_setup(state);
	struct payload_guest *g = *state;

	memset(&cpu, 0, sizeof(cpu));
	cpu.g = g;
	cpu.irqs = true;
	g->percpu.preempt_count = 0x80000000;
	g->code[TARGET] = 0xc3;
	g->cfg.do_syscall = g->cfg.irqentry_enter = g->cfg.idle_enter = g->cfg.idle_exit =
		(uintptr_t)g->code + TARGET;
	payload_guest_load(g);
	return ret;
}

static uint64_t made(struct payload_guest *g)
{
	return *ctl64(g, CTL_HEAD) - GUEST_LENGTH;
}

static const struct payload_record *record(struct payload_guest *g, uint64_t nr)
{
	return payload_guest_record(g, GUEST_LENGTH + nr);
}

static void test_window(void **state)
{
	struct payload_guest *g = *state;
	uint32_t site = (uint32_t)(uintptr_t)g->code;
	const struct payload_record *off, *on;

	g->task.flags = 1 << 3;
	g->task.migration_disabled = 2;
	measure(g, CRITICAL_IRQS, 0);
	cli(g);
	assert_int_equal(made(g), 0);
	sti(g);
	assert_int_equal(cpu.changes, 2);
	assert_int_equal(made(g), 2);
	off = record(g, 0);
	on = record(g, 1);
	assert_true(off->tsc && off->tsc < on->tsc);
	assert_in_range(off->ip, site, site + SITE_SIZE - 1);
	assert_in_range(on->ip, site, site + SITE_SIZE - 1);
	assert_int_equal(off->sp, on->sp);
	assert_int_equal(off->task, 1234 | 2 << RECORD_MIGRATE_SHIFT);
	assert_int_equal(on->task, off->task);
	assert_int_equal(off->state, 0x80000000 | STATE_IRQS_OFF | STATE_NEED_RESCHED |
					     PAYLOAD_IRQS_OFF << STATE_TYPE_SHIFT);
	assert_int_equal(on->state, 0x80000000 | STATE_IRQS_OFF | STATE_NEED_RESCHED |
					    PAYLOAD_IRQS_ON << STATE_TYPE_SHIFT);
	assert_int_equal(on->parent, 0);
	assert_int_equal(*ctl64(g, CTL_OPEN), 0);
}

/* A window has two records, and waits for room for them where none may be lost. */
static void test_full(void **state)
{
	struct payload_guest *g = *state;

	payload_guest_wait(g, 1000);
	measure(g, CRITICAL_IRQS, 0);
	*ctl64(g, CTL_TAIL) = *ctl64(g, CTL_HEAD) - GUEST_LENGTH;
	cli(g);
	sti(g);
	assert_int_equal(made(g), 0);
	assert_int_equal(*ctl64(g, CTL_DROPPED), 1);
	*ctl64(g, CTL_TAIL) = *ctl64(g, CTL_HEAD);
	cli(g);
	sti(g);
	assert_int_equal(made(g), 2);
	assert_int_equal(*ctl64(g, CTL_DROPPED), 1);
}

/* What changes nothing, what is too short, what is not asked for. */
static void test_no_window(void **state)
{
	struct payload_guest *g = *state;

	measure(g, CRITICAL_IRQS, 0);
	sti(g);
	assert_int_equal(cpu.changes, 0);
	cpu.irqs = false;
	cli(g);
	assert_int_equal(*ctl64(g, CTL_OPEN), 0);
	sti(g); /* of one that began before all this */
	measure(g, CRITICAL_IRQS, UINT64_MAX);
	cli(g);
	sti(g);
	measure(g, 0, 0);
	cli(g);
	sti(g);
	assert_int_equal(made(g), 0);
}

/* Preemption is off before and after: that window is a part of another one. */
static void test_either(void **state)
{
	struct payload_guest *g = *state;

	measure(g, CRITICAL_IRQS | CRITICAL_PREEMPT, 0);
	g->percpu.preempt_count++;
	cli(g);
	sti(g);
	assert_int_equal(made(g), 0);
	g->percpu.preempt_count--;
	cli(g);
	g->percpu.preempt_count++;
	sti(g);
	assert_int_equal(made(g), 0);
	assert_int_not_equal(*ctl64(g, CTL_OPEN), 0);
	g->percpu.preempt_count--;
	cpu.irqs = false;
	sti(g);
	assert_int_equal(made(g), 2);
}

/* Only longer ones from then on, when that is asked for. */
static void test_rises(void **state)
{
	struct payload_guest *g = *state;
	uint64_t min;

	measure(g, CRITICAL_IRQS | CRITICAL_RISES, 1);
	cli(g);
	sti(g);
	assert_int_equal(made(g), 2);
	min = *ctl64(g, CTL_CRITICAL_MIN);
	assert_int_equal(min, record(g, 1)->tsc - record(g, 0)->tsc + 1);
	measure(g, CRITICAL_IRQS, 1);
	cli(g);
	sti(g);
	assert_int_equal(*ctl64(g, CTL_CRITICAL_MIN), 1);
}

/* It is the same window as one whose instructions have room. */
static void test_moved(void **state)
{
	struct payload_guest *g = *state;
	uint32_t site = (uint32_t)(uintptr_t)g->code;
	uint32_t sp;

	measure(g, CRITICAL_IRQS, 0);
	sp = change_moved(g, g->text.moved_cli);
	assert_false(cpu.irqs);
	change_moved(g, g->text.moved_cli); /* they are off already */
	assert_false(cpu.irqs);
	assert_int_equal(made(g), 0);
	change_moved(g, g->text.moved_sti);
	assert_true(cpu.irqs);
	assert_int_equal(made(g), 2);
	change_moved(g, g->text.moved_sti); /* they are on already */
	assert_true(cpu.irqs);
	change_moved(g, g->text.moved_exit); /* none is open */
	assert_int_equal(made(g), 2);
	change_moved(g, g->text.moved_cli);
	change_moved(g, g->text.moved_exit);
	assert_int_equal(made(g), 4);
	assert_false(cpu.irqs);
	cpu.irqs = true;
	cpu.changes = 0;
	change_moved(g, g->text.moved_exit); /* they are on already, and stay so, but meanwhile */
	assert_int_equal(cpu.changes, 1);
	assert_true(cpu.irqs);
	assert_int_equal(made(g), 4);
	for (uint64_t nr = 0; nr < 4; nr++) {
		assert_in_range(record(g, nr)->ip, site, site + SITE_SIZE - 1);
		assert_int_equal(record(g, nr)->sp, sp);
		assert_int_equal(record(g, nr)->state >> STATE_TYPE_SHIFT & STATE_TYPE_MASK,
				 nr & 1 ? PAYLOAD_IRQS_ON : PAYLOAD_IRQS_OFF);
	}
}

/* Nobody answers: the call is taken back, and is the last one of its kind. */
static void test_stack(void **state)
{
	struct payload_guest *g = *state;

	measure(g, CRITICAL_IRQS | CRITICAL_STACK, 0);
	cli(g);
	sti(g);
	assert_int_equal(*ctl32(g, CTL_CALL_VAIN), 1);
	assert_int_equal(*ctl64(g, CTL_CALL_DI),
			 (uint64_t)record(g, 1)->sp << 32 | (GUEST_LENGTH + 1));
	assert_int_equal(*ctl32(g, CTL_CALL), PAYLOAD_CALL_NONE);
	cli(g);
	sti(g);
	assert_int_equal(*ctl32(g, CTL_CALL_VAIN), 1);
	assert_int_equal(made(g), 4);
}

/* The one that is not 0; NULL: all are. */
static uint64_t *limit(struct payload_guest *g)
{
	uint64_t *limits = (void *)(g->window + WINDOW_LIMITS);

	for (unsigned int i = 0; i < LIMITS; i++)
		if (limits[i])
			return &limits[i];
	return NULL;
}

/* The stack is copied of a window that is longer than those before with the same ends. */
static void test_copy(void **state)
{
	struct payload_guest *g = *state;
	const uint8_t *events =
		g->window + WINDOW_RINGS + 2 * GUEST_RING + GUEST_VCPU * GUEST_EVENTS;
	const struct payload_stack *copy = (const void *)(events + EVENT_HEADER);

	measure(g, CRITICAL_IRQS, 0);
	cli(g);
	sti(g);
	g->task.stack = (uintptr_t)&copy;
	g->task.stack -= (uint32_t)g->task.stack - (record(g, 1)->sp - 8);
	g->task.stack &= ~(uint64_t)(GUEST_STACK - 1);
	measure(g, CRITICAL_IRQS | CRITICAL_COPY, 0);
	cli(g);
	sti(g);
	assert_int_equal(record(g, 3)->parent, WINDOW_END_COPY);
	assert_non_null(limit(g));
	assert_int_equal(*limit(g), record(g, 3)->tsc - record(g, 2)->tsc);
	assert_int_equal((uint32_t)copy->sp + 8, record(g, 3)->sp);
	assert_int_equal(copy->word[0], (uintptr_t)g->code + SITE_SIZE);
	assert_in_range(copy->n, 1, EVENT_COPY_WORDS);
	assert_int_equal(*ctl64(g, CTL_EVENT_HEAD), EVENT_HEADER + COPY_WORD + copy->n * 8);
	*limit(g) = UINT64_MAX;
	cli(g);
	sti(g);
	assert_int_equal(record(g, 5)->parent, 0);
	*limit(g) = 1;
	cli(g);
	sti(g);
	assert_int_equal(record(g, 7)->parent,
			 (EVENT_HEADER + COPY_WORD + copy->n * 8) | WINDOW_END_COPY);
}

/* Where the payload waits for room the host is asked instead. */
static void test_copy_or_ask(void **state)
{
	struct payload_guest *g = *state;

	payload_guest_wait(g, 1000);
	measure(g, CRITICAL_IRQS | CRITICAL_COPY, 0);
	cli(g);
	sti(g);
	assert_int_equal(*ctl32(g, CTL_CALL_VAIN), 1);
	*ctl32(g, CTL_CALL_VAIN) = 0;
	*limit(g) = UINT64_MAX;
	cli(g);
	sti(g);
	assert_int_equal(*ctl32(g, CTL_CALL_VAIN), 0);
	assert_int_equal(*ctl64(g, CTL_EVENT_HEAD), 0);
}

/* --- interrupts ------------------------------------------------------------------------------ */

struct pt_regs {
	uint64_t others[17], cs, flags, sp, ss;
};

static void enter_irq(struct payload_guest *g, uint64_t flags)
{
	struct pt_regs pt = {.cs = KERNEL_CS, .flags = flags};
	struct all_regs regs = all;

	regs.rdi = (uintptr_t)&pt;
	exit_enter(&regs, payload_guest_function(g, 0, g->text.irq_entry));
	assert_int_equal(regs.rdi, (uintptr_t)&pt);
}

static void put_push(uint8_t **at, uint32_t value)
{
	*(*at)++ = 0x68;
	memcpy(*at, &value, sizeof(value));
	*at += sizeof(value);
}

/* True: what the kernel tests there says that it goes back to the kernel. */
static bool leave_irq(struct payload_guest *g, uint64_t flags, uint64_t cs)
{
	static const uint8_t room[] = {0x48, 0x83, 0xec, 0x78},	 /* sub $15 * 8, %rsp */
		end[] = {0x0f, 0x94, 0xc0,			 /* setz %al */
			 0x48, 0x81, 0xc4, 0xa8, 0, 0, 0, 0xc3}; /* add $21 * 8, %rsp; ret */
	uint8_t *code = g->code + IRQ_EXIT;
	struct all_regs regs = all;

	put_push(&code, 0x18); /* ss */
	put_push(&code, 0);    /* sp */
	put_push(&code, (uint32_t)flags);
	put_push(&code, (uint32_t)cs);
	put_push(&code, 0); /* ip */
	put_push(&code, 0); /* orig_ax */
	memcpy(code, room, sizeof(room));
	put_call(code + sizeof(room), (uintptr_t)g->window + WINDOW_TEXT + g->text.irq_exit);
	memcpy(code + sizeof(room) + 5, end, sizeof(end));
	exit_enter(&regs, g->code + IRQ_EXIT);
	return regs.rax & 0xff;
}

static void test_interrupt(void **state)
{
	struct payload_guest *g = *state;

	measure(g, CRITICAL_IRQS, 0);
	enter_irq(g, IF | 2);
	assert_int_equal(made(g), 0);
	assert_true(leave_irq(g, IF | 2, KERNEL_CS));
	assert_int_equal(made(g), 2);
	assert_int_equal(record(g, 1)->parent, 0);
	enter_irq(g, IF | 2);
	assert_false(leave_irq(g, IF | 2, USER_CS));
	assert_int_equal(made(g), 4);
	assert_int_equal(record(g, 3)->parent, 3);
	assert_int_equal(record(g, 3)->state,
			 0x80000000 | STATE_IRQS_OFF | PAYLOAD_IRQS_ON << STATE_TYPE_SHIFT);
}

/* Where they have been on, what is open has ended unseen, unless it goes on as one of both. */
static void test_unseen_end(void **state)
{
	struct payload_guest *g = *state;

	measure(g, CRITICAL_IRQS, 0);
	cli(g);
	enter_irq(g, IF | 2);
	assert_int_equal(made(g), 2);
	assert_true(record(g, 1)->tsc >= record(g, 0)->tsc);
	assert_true(leave_irq(g, IF | 2, KERNEL_CS));
	assert_int_equal(made(g), 4);
	assert_true(record(g, 2)->tsc > record(g, 1)->tsc);
	measure(g, CRITICAL_IRQS | CRITICAL_PREEMPT, 0);
	cpu.irqs = true;
	cli(g);
	g->percpu.preempt_count++;
	enter_irq(g, IF | 2);
	assert_int_equal(made(g), 4);
	g->percpu.preempt_count--;
	assert_true(leave_irq(g, IF | 2, KERNEL_CS));
	assert_int_equal(made(g), 6);
}

/* An exception where they were off neither begins nor ends anything. */
static void test_exception(void **state)
{
	struct payload_guest *g = *state;

	measure(g, CRITICAL_IRQS, 0);
	enter_irq(g, 2);
	assert_int_equal(*ctl64(g, CTL_OPEN), 0);
	assert_true(leave_irq(g, 2, KERNEL_CS));
	cli(g);
	enter_irq(g, 2);
	assert_true(leave_irq(g, 2, KERNEL_CS));
	assert_int_equal(made(g), 0);
	assert_int_not_equal(*ctl64(g, CTL_OPEN), 0);
	sti(g);
	assert_int_equal(made(g), 2);
}

/* What a function that is called, or has been, keeps: its arguments, and what is its caller's. */
static void pass(struct payload_guest *g, uint32_t entry)
{
	struct all_regs regs = all;

	exit_enter(&regs, payload_guest_function(g, 0, entry));
	assert_int_equal(regs.rdi, all.rdi);
	assert_int_equal(regs.rsi, all.rsi);
	assert_int_equal(regs.rbx, all.rbx);
	assert_int_equal(regs.rbp, all.rbp);
	assert_int_equal(regs.r12, all.r12);
	assert_int_equal(regs.r13, all.r13);
	assert_int_equal(regs.r14, all.r14);
	assert_int_equal(regs.r15, all.r15);
}

/* From user mode by a system call; and there by a return, and to where a CPU waits. */
static void test_ways_out(void **state)
{
	struct payload_guest *g = *state;

	measure(g, CRITICAL_IRQS, 0);
	pass(g, g->text.syscall_entry);
	pass(g, g->text.user_exit);
	assert_int_equal(made(g), 2);
	assert_in_range(record(g, 0)->ip, (uint32_t)(uintptr_t)g->code,
			(uint32_t)(uintptr_t)g->code + SITE_SIZE);
	assert_int_equal(record(g, 0)->task, 1234);
	assert_int_equal(record(g, 1)->ip, record(g, 0)->ip);
	assert_int_equal(record(g, 1)->sp, record(g, 0)->sp);
	cpu.irqs = true;
	cli(g);
	pass(g, g->text.idle);
	assert_int_equal(made(g), 4);
	for (uint64_t nr = 0; nr < 4; nr++)
		assert_int_equal(record(g, nr)->state >> STATE_TYPE_SHIFT & STATE_TYPE_MASK,
				 nr & 1 ? PAYLOAD_IRQS_ON : PAYLOAD_IRQS_OFF);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, payload_guest_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_window),     TEST(test_full),	     TEST(test_no_window),
		TEST(test_either),     TEST(test_rises),     TEST(test_stack),
		TEST(test_interrupt),  TEST(test_exception), TEST(test_ways_out),
		TEST(test_moved),      TEST(test_copy),	     TEST(test_copy_or_ask),
		TEST(test_unseen_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
