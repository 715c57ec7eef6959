/* SPDX-License-Identifier: GPL-2.0-or-later */
/* insn-fake.h - a made-up vCPU and memory for instructions that the host carries out. */
#ifndef HVTRACE_TESTS_UNIT_INSN_FAKE_H
#define HVTRACE_TESTS_UNIT_INSN_FAKE_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "vmm/kvm/insn/insn.h"

/*
 * RAM of the made-up machine and what its page tables map there. Two data pages lie side by side
 * in virtual memory, far apart in RAM; behind them comes nothing.
 */
#define RAM_SIZE 0x20000ull
#define PML4	 0x1000ull
#define PDPT	 0x2000ull
#define PAGE_DIR 0x3000ull
#define PAGE_TAB 0x4000ull
#define CODE_PA	 0x8000ull
#define DATA_PA	 0x9000ull
#define DATA2_PA 0x1c000ull
#define READ_PA	 0xb000ull
#define USER_PA	 0xd000ull

#define BASE	  0xffffffff80000000ull
#define CODE	  (BASE + 0x1000)
#define DATA	  (BASE + 0x3000)
#define NOWHERE	  (BASE + 0x5000)
#define READ_ONLY (BASE + 0x6000)
#define USER	  (BASE + 0x7000)
#define OFF_RAM	  (BASE + 0x8000)

#define P 1u
#define W 2u
#define U 4u
#define A 0x20u
#define D 0x40u

#define ZF	   (1u << 6)
#define AC	   (1u << 18)
#define ARITHMETIC 0x8d5u

struct fake {
	uint8_t ram[RAM_SIZE];
	struct kvm_regs regs;
	struct kvm_sregs sregs;
	struct kvm_fpu fpu;
	uint64_t xcr0;
	struct insn_cpu cpu;
	struct insn_decoder *decoder;
};

static inline void *fake_ram(void *arg, uint64_t pa, size_t len)
{
	struct fake *f = arg;

	return pa < RAM_SIZE && len <= RAM_SIZE - pa ? f->ram + pa : NULL;
}

static inline int fake_get_fpu(void *arg, struct kvm_fpu *fpu)
{
	*fpu = ((struct fake *)arg)->fpu;
	return 0;
}

static inline int fake_set_fpu(void *arg, const struct kvm_fpu *fpu)
{
	((struct fake *)arg)->fpu = *fpu;
	return 0;
}

static inline int fake_get_xcr0(void *arg, uint64_t *xcr0)
{
	*xcr0 = ((struct fake *)arg)->xcr0;
	return 0;
}

static const struct insn_ops fake_ops = {fake_get_fpu, fake_set_fpu, fake_get_xcr0};

static inline void put64(struct fake *f, uint64_t pa, uint64_t val)
{
	memcpy(f->ram + pa, &val, sizeof(val));
}

static inline uint64_t get64(const struct fake *f, uint64_t pa)
{
	uint64_t val;

	memcpy(&val, f->ram + pa, sizeof(val));
	return val;
}

/* The entry that maps va (all of them are in one page table). */
static inline uint64_t pte_at(uint64_t va)
{
	return PAGE_TAB + (va - BASE) / 4096 * 8;
}

static inline void fake_map(struct fake *f)
{
	put64(f, PML4 + 511 * 8, PDPT | P | W | U);
	put64(f, PDPT + 510 * 8, PAGE_DIR | P | W | U);
	put64(f, PAGE_DIR, PAGE_TAB | P | W | U);
	put64(f, pte_at(CODE), CODE_PA | P);
	put64(f, pte_at(DATA), DATA_PA | P | W);
	put64(f, pte_at(DATA + 4096), DATA2_PA | P | W);
	put64(f, pte_at(READ_ONLY), READ_PA | P);
	put64(f, pte_at(USER), USER_PA | P | W | U);
	put64(f, pte_at(OFF_RAM), 0x7fff000 | P | W);
}

static inline int setup(void **state)
{
	struct fake *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	fake_map(f);
	f->decoder = insn_decoder_new();
	assert_non_null(f->decoder);
	f->sregs.cr0 = 0x80050033;
	f->sregs.cr3 = PML4;
	f->sregs.cr4 = 0x406b0; /* with OSFXSR and OSXSAVE */
	f->sregs.efer = 0xd01;
	f->sregs.cs.l = 1;
	f->regs.rip = CODE;
	f->regs.rflags = 2;
	f->fpu.fcw = 0x37f;
	f->fpu.mxcsr = 0x1f80;
	f->xcr0 = 3;
	*state = f;
	return 0;
}

static inline int teardown(void **state)
{
	struct fake *f = *state;

	insn_decoder_free(f->decoder);
	free(f);
	return 0;
}

/* Carry out the bytes as the next instruction. */
static inline int run(struct fake *f, const void *bytes, size_t len)
{
	memset(f->ram + CODE_PA, 0x90, 4096);
	memcpy(f->ram + CODE_PA + f->regs.rip % 4096, bytes, len);
	insn_cpu_init(&f->cpu, &f->regs, &f->sregs, fake_ram, &fake_ops, f);
	return insn_execute(f->decoder, &f->cpu);
}

#define RUN(f, bytes) run(f, bytes, sizeof(bytes) - 1)

/* Run bytes that must raise an exception, with nothing changed. */
static inline const struct insn_fault *raises(struct fake *f, const void *bytes, size_t len)
{
	struct kvm_regs before = f->regs;
	struct kvm_fpu fpu = f->fpu;

	assert_int_equal(run(f, bytes, len), -EFAULT);
	assert_memory_equal(&before, &f->regs, sizeof(before));
	assert_memory_equal(&fpu, &f->fpu, sizeof(fpu));
	return &f->cpu.fault;
}

#define RAISES(f, bytes) raises(f, bytes, sizeof(bytes) - 1)

/* A test of this vCPU. */
#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

#endif
