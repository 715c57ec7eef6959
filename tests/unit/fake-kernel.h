/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fake-kernel.h - on top of fake-guest.h: a made-up kernel of two CPUs with what borrow.c looks
 * for: functions to wait at, tasks, stacks.
 */
#ifndef HVTRACE_TESTS_FAKE_KERNEL_H
#define HVTRACE_TESTS_FAKE_KERNEL_H

#include <stdlib.h>

#include "tests/unit/fake-guest.h"
#include "tracer/borrow/borrow.h"

/* Offsets in the made-up image. */
enum {
	FN_SCHEDULE = 0x1000,
	FN_TIMER = 0x1100, /* run_timer_softirq */
	FN_READ = 0x1200,  /* __x64_sys_read */
	FN_LANDING = 0x1300,
	FN_RESTORE = 0x1400,
	FN_ALLOC = 0x1500,
	FN_FREE = 0x1600,
	FN_FLUSH = 0x1700,
	PER_CPU_OFFSET = 0x5000,
	PER_CPU_AREA = 0x6000, /* of CPU 0; the next follow */
	PER_CPU_SIZE = 0x800,
	TASK = 0x8000, /* of CPU 0 */
	TASK_SIZE = 0x800,
	STACK = 0x10000, /* of CPU 0's task */
	STACK_SIZE = 0x4000,
	IRQ_STACK = 0x18000, /* of CPU 0; CPU 1 has none */
	TOP_PGT = 0x20000,
	IMAGE_END = 0x40000,
	PCPU_CURRENT = 0x100,
	PCPU_COUNT = 0x108,
	PCPU_IRQ_STACK = 0x110,
	TASK_PID = 0x20,
	TASK_STACK = 0x28,
	COUNT_NONE = (int)0x80000000, /* preempt_count of a task that nothing is the matter with */
};

static void put(uint64_t off, uint64_t value, size_t len)
{
	memcpy(fake_at(FAKE_VA(off)), &value, len);
}

static uint64_t get(uint64_t va)
{
	uint64_t value;

	memcpy(&value, fake_at(va), sizeof(value));
	return value;
}

static void add_site(const char *name, uint32_t off)
{
	static const uint8_t nop5[] = {0x0f, 0x1f, 0x44, 0x00, 0x00};

	fake_symbol(name, FAKE_VA(off), 't');
	fake.sites[fake.nsites++] =
		(struct guestsym_site){FAKE_VA(off), FAKE_VA(off), name, GUESTSYM_SITE_NOP};
	memcpy(fake_at(FAKE_VA(off)), nop5, sizeof(nop5));
}

static void add_functions(void)
{
	static const uint8_t restore[] = {0x41, 0x5f, 0x41, 0x5e, 0x41, 0x5d, 0x41, 0x5c, 0x5d,
					  0x5b, 0x41, 0x5b, 0x41, 0x5a, 0x41, 0x59, 0x41, 0x58,
					  0x58, 0x59, 0x5a, 0x5e, 0x5f, 0x48, 0x83, 0xc4, 0x08};

	add_site("schedule", FN_SCHEDULE);
	add_site("run_timer_softirq", FN_TIMER);
	add_site("__x64_sys_read", FN_READ);
	add_site("sys_ni_syscall", FN_LANDING);
	fake_symbol("restore_regs_and_return_to_kernel", FAKE_VA(FN_RESTORE), 'T');
	memcpy(fake_at(FAKE_VA(FN_RESTORE)), restore, sizeof(restore));
	fake_symbol("__get_free_pages", FAKE_VA(FN_ALLOC), 'T');
	fake_symbol("free_pages", FAKE_VA(FN_FREE), 'T');
	fake_symbol("flush_tlb_kernel_range", FAKE_VA(FN_FLUSH), 'T');
}

static void add_cpu(unsigned int cpu)
{
	uint64_t area = PER_CPU_AREA + cpu * PER_CPU_SIZE, task = TASK + cpu * TASK_SIZE;

	put(PER_CPU_OFFSET + 8 * cpu, FAKE_VA(area), 8);
	put(area + PCPU_CURRENT, FAKE_VA(task), 8);
	put(area + PCPU_COUNT, (uint32_t)COUNT_NONE, 4);
	put(task + TASK_PID, 42 + cpu, 4);
	put(task + TASK_STACK, FAKE_VA(STACK + cpu * STACK_SIZE), 8);
}

static void kernel_make(void)
{
	memset(&fake, 0, sizeof(fake));
	fake.ram = calloc(1, FAKE_RAM);
	fake_symbol("_text", FAKE_TEXT, 'T');
	fake_symbol("_end", FAKE_VA(IMAGE_END), 'B');
	fake_symbol("__per_cpu_offset", FAKE_VA(PER_CPU_OFFSET), 'D');
	fake_symbol("init_top_pgt", FAKE_VA(TOP_PGT), 'D');
	fake_symbol("current_task", PCPU_CURRENT, 'A');
	fake_symbol("__preempt_count", PCPU_COUNT, 'A');
	fake_symbol("hardirq_stack_ptr", PCPU_IRQ_STACK, 'A');
	fake_field("task_struct.pid", TASK_PID, 4);
	fake_field("task_struct.stack", TASK_STACK, 8);
	add_functions();
	add_cpu(0);
	add_cpu(1);
	put(PER_CPU_AREA + PCPU_IRQ_STACK, FAKE_VA(IRQ_STACK + STACK_SIZE - 8), 8);
	fake.sregs = (struct machine_sregs){.cs = 0x10, .ss = 0x18, .efer = 1 << 11};
}

/* A task calls the function at off, with this stack pointer. False: nothing is trapped there. */
static __attribute__((unused)) bool kernel_calls(struct borrow *b, unsigned int vcpu, uint64_t off,
						 uint64_t sp)
{
	const struct machine_trap *trap = fake_trap(FAKE_VA(off));
	struct machine_regs regs = {
		1, 2, 3, 4, 5, 6, sp, 8, 9, 10, 11, 12, 13, 14, 15, 16, FAKE_VA(off) + 5, 0x202};
	struct machine_hit hit = {.vcpu = vcpu, .va = FAKE_VA(off), .regs = &regs};

	if (!trap)
		return false;
	hit.cookie = trap->cookie;
	fake.regs[vcpu] = regs;
	borrow_hit(b, &hit);
	return true;
}

/* The function that vCPU `from` has been sent to returns, on vCPU `to`. */
static __attribute__((unused)) void kernel_returns(struct borrow *b, unsigned int from,
						   unsigned int to, uint64_t rax)
{
	struct machine_regs regs = fake.regs[from];
	struct machine_hit hit = {.vcpu = to, .cookie = BORROW_COOKIE, .regs = &regs};

	hit.va = get(regs.rsp);
	regs.rsp += 8;
	regs.rax = rax;
	regs.rip = hit.va + 5;
	/* An interrupt comes by. */
	memset(fake_at(regs.rsp - 64), 0xee, 64);
	if (fake_trap(hit.va))
		borrow_hit(b, &hit);
}

#endif
