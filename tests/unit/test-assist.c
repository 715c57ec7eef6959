// SPDX-License-Identifier: GPL-2.0-or-later
/* test-assist.c - instructions carried out by insn.c on a made-up vCPU and memory; needs no KVM. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "vmm/kvm/insn.h"

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

static void *fake_ram(void *arg, uint64_t pa, size_t len)
{
	struct fake *f = arg;

	return pa < RAM_SIZE && len <= RAM_SIZE - pa ? f->ram + pa : NULL;
}

static int fake_get_fpu(void *arg, struct kvm_fpu *fpu)
{
	*fpu = ((struct fake *)arg)->fpu;
	return 0;
}

static int fake_set_fpu(void *arg, const struct kvm_fpu *fpu)
{
	((struct fake *)arg)->fpu = *fpu;
	return 0;
}

static int fake_get_xcr0(void *arg, uint64_t *xcr0)
{
	*xcr0 = ((struct fake *)arg)->xcr0;
	return 0;
}

static const struct insn_ops fake_ops = {fake_get_fpu, fake_set_fpu, fake_get_xcr0};

static void put64(struct fake *f, uint64_t pa, uint64_t val)
{
	memcpy(f->ram + pa, &val, sizeof(val));
}

static uint64_t get64(const struct fake *f, uint64_t pa)
{
	uint64_t val;

	memcpy(&val, f->ram + pa, sizeof(val));
	return val;
}

/* The entry that maps va (all of them are in one page table). */
static uint64_t pte_at(uint64_t va)
{
	return PAGE_TAB + (va - BASE) / 4096 * 8;
}

static void fake_map(struct fake *f)
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

static int setup(void **state)
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

static int teardown(void **state)
{
	struct fake *f = *state;

	insn_decoder_free(f->decoder);
	free(f);
	return 0;
}

/* Carry out the bytes as the next instruction. */
static int run(struct fake *f, const void *bytes, size_t len)
{
	memset(f->ram + CODE_PA, 0x90, 4096);
	memcpy(f->ram + CODE_PA + f->regs.rip % 4096, bytes, len);
	insn_cpu_init(&f->cpu, &f->regs, &f->sregs, fake_ram, &fake_ops, f);
	return insn_execute(f->decoder, &f->cpu);
}

#define RUN(f, bytes) run(f, bytes, sizeof(bytes) - 1)

/* Run bytes that must raise an exception, with nothing changed. */
static const struct insn_fault *raises(struct fake *f, const void *bytes, size_t len)
{
	struct kvm_regs before = f->regs;
	struct kvm_fpu fpu = f->fpu;

	assert_int_equal(run(f, bytes, len), -EFAULT);
	assert_memory_equal(&before, &f->regs, sizeof(before));
	assert_memory_equal(&fpu, &f->fpu, sizeof(fpu));
	return &f->cpu.fault;
}

#define RAISES(f, bytes) raises(f, bytes, sizeof(bytes) - 1)

/* --- integer unit -------------------------------------------------------------------------- */

#define CMPXCHG16B_RDI "\xf0\x48\x0f\xc7\x0f" /* lock cmpxchg16b (%rdi) */

static void test_cmpxchg16b_equal(void **state)
{
	struct fake *f = *state;

	f->regs.rdi = DATA + 0x40;
	put64(f, DATA_PA + 0x40, 1);
	put64(f, DATA_PA + 0x48, 2);
	f->regs.rax = 1;
	f->regs.rdx = 2;
	f->regs.rbx = 3;
	f->regs.rcx = 4;
	f->regs.rflags = 2 | 1;
	assert_int_equal(RUN(f, CMPXCHG16B_RDI), 0);
	assert_int_equal(get64(f, DATA_PA + 0x40), 3);
	assert_int_equal(get64(f, DATA_PA + 0x48), 4);
	assert_int_equal(f->regs.rflags, 2 | 1 | ZF); /* only ZF is written */
	assert_int_equal(f->regs.rip, CODE + 5);
	assert_int_equal(get64(f, pte_at(DATA)) & (A | D), A | D);
	assert_int_equal(get64(f, PAGE_DIR) & (A | D), A);
}

static void test_cmpxchg16b_different(void **state)
{
	struct fake *f = *state;

	f->regs.rdi = DATA + 0x40;
	put64(f, DATA_PA + 0x40, 1);
	put64(f, DATA_PA + 0x48, 7);
	f->regs.rax = 1;
	f->regs.rdx = 2;
	f->regs.rflags = 2 | ZF;
	assert_int_equal(RUN(f, CMPXCHG16B_RDI), 0);
	assert_int_equal(get64(f, DATA_PA + 0x48), 7);
	assert_int_equal(f->regs.rax, 1);
	assert_int_equal(f->regs.rdx, 7);
	assert_int_equal(f->regs.rflags, 2);
}

/* As Linux's per-CPU allocator has it: %gs and an index. */
static void test_cmpxchg16b_gs(void **state)
{
	struct fake *f = *state;

	f->sregs.gs.base = DATA;
	f->regs.rsi = 0x20;
	f->regs.rbx = 9;
	assert_int_equal(RUN(f, "\x65\x48\x0f\xc7\x4e\x10"), 0); /* cmpxchg16b %gs:0x10(%rsi) */
	assert_int_equal(get64(f, DATA_PA + 0x30), 9);
}

static void test_cmpxchg16b_misaligned(void **state)
{
	struct fake *f = *state;
	const struct insn_fault *fault;

	f->regs.rdi = DATA + 8;
	fault = RAISES(f, CMPXCHG16B_RDI);
	assert_int_equal(fault->vector, VECTOR_GP);
	assert_true(fault->has_error);
	assert_int_equal(fault->error, 0);
}

static void test_popcnt(void **state)
{
	struct fake *f = *state;

	f->regs.rdi = 0xf0f0000000000001;
	f->regs.rflags = 2 | ARITHMETIC;
	assert_int_equal(RUN(f, "\xf3\x48\x0f\xb8\xc7"), 0); /* popcnt %rdi, %rax */
	assert_int_equal(f->regs.rax, 9);
	assert_int_equal(f->regs.rflags, 2);
	f->regs.rax = ~0ull;
	assert_int_equal(RUN(f, "\xf3\x0f\xb8\xc7"), 0); /* popcnt %edi, %eax */
	assert_int_equal(f->regs.rax, 1);
	f->regs.r9 = 0x1234567800000000;
	f->regs.rdi = 0xabcd0000;
	assert_int_equal(RUN(f, "\x66\xf3\x44\x0f\xb8\xcf"), 0); /* popcnt %di, %r9w */
	assert_int_equal(f->regs.r9, 0x1234567800000000);
	assert_int_equal(f->regs.rflags, 2 | ZF);
}

static void test_popcnt_memory(void **state)
{
	struct fake *f = *state;

	put64(f, DATA_PA + 0xffc, 0);
	memset(f->ram + DATA_PA + 0xffc, 0xff, 4);
	memset(f->ram + DATA2_PA, 0x03, 4); /* the other half is on the next page */
	f->regs.rbx = DATA;
	f->regs.rcx = 0x3ff;
	/* popcnt (%rbx,%rcx,4), %rdx */
	assert_int_equal(RUN(f, "\xf3\x48\x0f\xb8\x14\x8b"), 0);
	assert_int_equal(f->regs.rdx, 32 + 8);
	/* popcnt 0x1ff4(%rip), %edx: rip is that behind the instruction */
	put64(f, DATA_PA, 7);
	f->regs.rip = CODE;
	assert_int_equal(RUN(f, "\xf3\x0f\xb8\x15\xf8\x1f\x00\x00"), 0);
	assert_int_equal(f->regs.rdx, 3);
}

static void test_clac_stac(void **state)
{
	struct fake *f = *state;

	assert_int_equal(RUN(f, "\x0f\x01\xcb"), 0);
	assert_int_equal(f->regs.rflags, 2 | AC);
	assert_int_equal(RUN(f, "\x0f\x01\xca"), 0);
	assert_int_equal(f->regs.rflags, 2);
	assert_int_equal(f->regs.rip, CODE + 6);
	f->sregs.ss.dpl = 3;
	put64(f, pte_at(CODE), CODE_PA | P | U);
	assert_int_equal(RAISES(f, "\x0f\x01\xcb")->vector, VECTOR_UD);
}

static void test_ud2(void **state)
{
	const struct insn_fault *fault = RAISES(*state, "\x0f\x0b");

	assert_int_equal(fault->vector, VECTOR_UD);
	assert_false(fault->has_error);
}

/* --- floating-point unit ------------------------------------------------------------------- */

static void test_mxcsr(void **state)
{
	struct fake *f = *state;

	f->regs.rdi = DATA;
	put64(f, DATA_PA, 0x1fc0);
	assert_int_equal(RUN(f, "\x0f\xae\x17"), 0); /* ldmxcsr (%rdi) */
	assert_int_equal(f->fpu.mxcsr, 0x1fc0);
	f->regs.rdi = DATA + 8;
	assert_int_equal(RUN(f, "\x0f\xae\x1f"), 0); /* stmxcsr (%rdi) */
	assert_int_equal(get64(f, DATA_PA + 8), 0x1fc0);
	put64(f, DATA_PA, 0x10000);
	f->regs.rdi = DATA;
	assert_int_equal(RAISES(f, "\x0f\xae\x17")->vector, VECTOR_GP);
	f->sregs.cr0 |= 8; /* task switched */
	assert_int_equal(RAISES(f, "\x0f\xae\x1f")->vector, VECTOR_NM);
	f->sregs.cr4 = 0x20;
	assert_int_equal(RAISES(f, "\x0f\xae\x1f")->vector, VECTOR_UD);
}

static void test_x87(void **state)
{
	struct fake *f = *state;

	assert_int_equal(RUN(f, "\x9b"), 0);
	f->fpu.fsw = 0x3881; /* an exception is pending */
	assert_int_equal(RAISES(f, "\x9b")->vector, VECTOR_MF);
	assert_int_equal(RUN(f, "\xdb\xe2"), 0); /* fnclex */
	assert_int_equal(f->fpu.fsw, 0x3800);
	f->fpu.ftwx = 0xff;
	f->fpu.fcw = 0;
	assert_int_equal(RUN(f, "\xdb\xe3"), 0); /* fninit */
	assert_int_equal(f->fpu.fcw, 0x37f);
	assert_int_equal(f->fpu.fsw, 0);
	assert_int_equal(f->fpu.ftwx, 0);
	f->sregs.cr0 |= 8;
	assert_int_equal(RAISES(f, "\x9b")->vector, VECTOR_NM);
}

/* How Linux hides a process's FPU pointers from the next one on some AMD processors. */
static void test_emms_fild(void **state)
{
	static const uint8_t minus_5[] = {0, 0, 0, 0, 0, 0, 0, 0xa0, 0x01, 0xc0};
	static const uint8_t one[] = {0, 0, 0, 0, 0, 0, 0, 0x80, 0xff, 0x3f};
	static const uint8_t zero[10];
	struct fake *f = *state;

	f->fpu.ftwx = 0xff;
	assert_int_equal(RUN(f, "\x0f\x77"), 0); /* emms */
	assert_int_equal(f->fpu.ftwx, 0);
	f->regs.rdi = DATA;
	put64(f, DATA_PA, 0xfffffffb);
	assert_int_equal(RUN(f, "\xdb\x07"), 0); /* fildl (%rdi) */
	assert_int_equal(f->fpu.ftwx, 0x80);
	assert_int_equal(f->fpu.fsw, 7 << 11);
	assert_memory_equal(f->fpu.fpr[0], minus_5, 10);
	put64(f, DATA_PA, 1);
	assert_int_equal(RUN(f, "\xdf\x2f"), 0); /* fildll (%rdi) */
	put64(f, DATA_PA, 0xffff0000);
	assert_int_equal(RUN(f, "\xdf\x07"), 0); /* filds (%rdi) */
	assert_memory_equal(f->fpu.fpr[0], zero, 10);
	assert_memory_equal(f->fpu.fpr[1], one, 10);
	assert_memory_equal(f->fpu.fpr[2], minus_5, 10);
	assert_int_equal(f->fpu.ftwx, 0xe0);
	f->fpu.ftwx = 0xff; /* a full stack */
	assert_int_equal(RUN(f, "\xdb\x07"), -ENOSYS);
}

static void fill_fpu(struct kvm_fpu *fpu)
{
	memset(fpu, 0, sizeof(*fpu));
	for (unsigned int i = 0; i < sizeof(fpu->fpr); i++)
		((uint8_t *)fpu->fpr)[i] = (uint8_t)i;
	for (unsigned int i = 0; i < sizeof(fpu->xmm); i++)
		((uint8_t *)fpu->xmm)[i] = (uint8_t)(i ^ 0x5a);
	fpu->fcw = 0x27f;
	fpu->fsw = 0x3800;
	fpu->ftwx = 0x80;
	fpu->last_opcode = 0x123;
	fpu->last_ip = 0x1122334455667788;
	fpu->last_dp = 0x99aabbccddeeff00;
	fpu->mxcsr = 0x9fc0;
}

static void test_fxsave_fxrstor(void **state)
{
	struct fake *f = *state;
	struct kvm_fpu saved;

	fill_fpu(&f->fpu);
	saved = f->fpu;
	memset(f->ram + DATA_PA, 0xee, 512);
	f->regs.rdi = DATA;
	assert_int_equal(RUN(f, "\x48\x0f\xae\x07"), 0); /* fxsave64 (%rdi) */
	assert_memory_equal(f->ram + DATA_PA, "\x7f\x02\x00\x38\x80\x00\x23\x01", 8);
	assert_int_equal(get64(f, DATA_PA + 8), saved.last_ip);
	assert_int_equal(get64(f, DATA_PA + 24) & 0xffffffff, 0x9fc0);
	assert_memory_equal(f->ram + DATA_PA + 160, saved.xmm, 256);
	assert_int_equal(f->ram[DATA_PA + 464], 0xee); /* software's bytes are left alone */
	memset(&f->fpu, 0, sizeof(f->fpu));
	assert_int_equal(RUN(f, "\x48\x0f\xae\x0f"), 0); /* fxrstor64 (%rdi) */
	assert_memory_equal(&f->fpu, &saved, sizeof(saved));
	assert_int_equal(RUN(f, "\x0f\xae\x0f"), 0); /* fxrstor: 32 bits of the pointers */
	assert_int_equal(f->fpu.last_ip, 0x55667788);
	put64(f, DATA_PA + 24, 0x12340000);
	assert_int_equal(RAISES(f, "\x48\x0f\xae\x0f")->vector, VECTOR_GP);
	f->regs.rdi = DATA + 8;
	assert_int_equal(RAISES(f, "\x48\x0f\xae\x07")->vector, VECTOR_GP);
}

static void test_xsave_xrstor(void **state)
{
	struct fake *f = *state;
	struct kvm_fpu saved;

	fill_fpu(&f->fpu);
	saved = f->fpu;
	f->regs.rdi = DATA + 64;
	f->regs.rax = 0xffffffff;
	f->regs.rdx = 0xffffffff;
	put64(f, DATA_PA + 64 + 512, 4);		 /* a state that is not asked for stays */
	assert_int_equal(RUN(f, "\x48\x0f\xae\x27"), 0); /* xsave64 (%rdi) */
	assert_int_equal(get64(f, DATA_PA + 64 + 512), 4 | 3);
	put64(f, DATA_PA + 64 + 512, 2);		 /* no x87 state: it becomes initial */
	assert_int_equal(RUN(f, "\x48\x0f\xae\x2f"), 0); /* xrstor64 (%rdi) */
	assert_int_equal(f->fpu.fcw, 0x37f);
	assert_memory_equal(f->fpu.xmm, saved.xmm, sizeof(saved.xmm));
	put64(f, DATA_PA + 64 + 512, 8);
	assert_int_equal(RAISES(f, "\x48\x0f\xae\x2f")->vector, VECTOR_GP);
}

static void test_xsavec_xrstor(void **state)
{
	struct fake *f = *state;
	struct kvm_fpu saved;

	fill_fpu(&f->fpu);
	saved = f->fpu;
	f->regs.rdi = DATA + 64;
	f->regs.rax = 2;
	assert_int_equal(RUN(f, "\x48\x0f\xc7\x67\x00"), 0); /* xsavec64 0(%rdi) */
	assert_int_equal(get64(f, DATA_PA + 64 + 512), 2);
	assert_int_equal(get64(f, DATA_PA + 64 + 520), 2 | 1ull << 63);
	memset(&f->fpu, 0, sizeof(f->fpu));
	assert_int_equal(RUN(f, "\x48\x0f\xae\x2f"), 0);
	assert_memory_equal(f->fpu.xmm, saved.xmm, sizeof(saved.xmm));
	assert_int_equal(f->fpu.mxcsr, saved.mxcsr);
	assert_int_equal(f->fpu.fcw, 0); /* not asked for */
}

static void test_xsave_refused(void **state)
{
	struct fake *f = *state;

	f->regs.rdi = DATA + 64;
	f->xcr0 = 7;
	assert_int_equal(RUN(f, "\x48\x0f\xae\x27"), -ENOSYS); /* AVX state: not here */
	f->xcr0 = 3;
	f->regs.rdi = DATA + 32;
	assert_int_equal(RAISES(f, "\x48\x0f\xae\x27")->vector, VECTOR_GP);
	f->sregs.cr4 = 0x6b0;
	assert_int_equal(RAISES(f, "\x48\x0f\xae\x27")->vector, VECTOR_UD);
}

/* --- addresses that fault ------------------------------------------------------------------ */

static void assert_page_fault(struct fake *f, uint64_t rdi, uint32_t error)
{
	const struct insn_fault *fault;

	f->regs.rdi = rdi;
	fault = RAISES(f, CMPXCHG16B_RDI);
	assert_int_equal(fault->vector, VECTOR_PF);
	assert_int_equal(fault->error, error);
	assert_int_equal(fault->address, rdi);
}

static void test_page_faults(void **state)
{
	struct fake *f = *state;

	assert_page_fault(f, NOWHERE, PAGING_WRITE);
	assert_page_fault(f, READ_ONLY, PAGING_PRESENT | PAGING_WRITE);
	assert_page_fault(f, 0x1000, PAGING_WRITE);
	f->sregs.ss.dpl = 3;
	put64(f, pte_at(CODE), CODE_PA | P | U);
	assert_page_fault(f, DATA, PAGING_PRESENT | PAGING_WRITE | PAGING_USER);
	f->regs.rdi = USER;
	assert_int_equal(RUN(f, CMPXCHG16B_RDI), 0);
}

static void test_smap(void **state)
{
	struct fake *f = *state;

	f->regs.rdi = USER;
	assert_int_equal(RUN(f, CMPXCHG16B_RDI), 0);
	f->sregs.cr4 |= 1u << 21;
	assert_page_fault(f, USER, PAGING_PRESENT | PAGING_WRITE);
	f->regs.rflags |= AC;
	assert_int_equal(RUN(f, CMPXCHG16B_RDI), 0);
}

/* Nothing is written when the second page of an operand is missing. */
static void test_write_across_pages(void **state)
{
	struct fake *f = *state;
	const struct insn_fault *fault;

	f->regs.rdi = DATA + 0x1ffe;
	fault = RAISES(f, "\x0f\xae\x1f"); /* stmxcsr (%rdi) */
	assert_int_equal(fault->address, NOWHERE);
	assert_int_equal(f->ram[DATA2_PA + 0xffe], 0);
	f->regs.rdi = DATA + 0xffe;
	assert_int_equal(RUN(f, "\x0f\xae\x1f"), 0);
	assert_int_equal(f->ram[DATA_PA + 0xffe], 0x80);
	assert_int_equal(f->ram[DATA_PA + 0xfff], 0x1f);
	assert_int_equal(f->ram[DATA2_PA], 0);
}

static void test_not_canonical(void **state)
{
	struct fake *f = *state;

	f->regs.rdi = 0x800000000000;
	assert_int_equal(RAISES(f, CMPXCHG16B_RDI)->vector, VECTOR_GP);
	f->regs.rsp = 0x800000000000;
	assert_int_equal(RAISES(f, "\x0f\xae\x1c\x24")->vector, VECTOR_SS); /* stmxcsr (%rsp) */
}

static void test_hostile_tables(void **state)
{
	struct fake *f = *state;

	f->regs.rdi = OFF_RAM; /* mapped to where no RAM is */
	assert_int_equal(RUN(f, CMPXCHG16B_RDI), -EIO);
	f->regs.rdi = DATA;
	put64(f, PDPT + 511 * 8, 0x000ffffffffff000 | P | W);
	f->regs.rdi = 0xffffffffc0000000;
	assert_int_equal(RUN(f, CMPXCHG16B_RDI), -EIO);
	put64(f, PML4, PML4 | 0x80 | P | W); /* a large page of 512 GB */
	f->regs.rdi = 0x1000;
	assert_int_equal(RAISES(f, CMPXCHG16B_RDI)->error,
			 PAGING_PRESENT | PAGING_WRITE | PAGING_RESERVED);
}

static void test_large_page(void **state)
{
	struct fake *f = *state;

	put64(f, PAGE_DIR + 8, 0 | 0x80 | P | W); /* 2 MB at the start of RAM */
	f->regs.rdi = BASE + 0x200000 + DATA_PA;
	f->regs.rbx = 5;
	assert_int_equal(RUN(f, CMPXCHG16B_RDI), 0);
	assert_int_equal(get64(f, DATA_PA), 5);
}

static void test_unknown(void **state)
{
	struct fake *f = *state;
	struct kvm_regs before = f->regs;

	assert_int_equal(RUN(f, "\x90"), -ENOSYS);
	assert_int_equal(RUN(f, "\x06"), -ENOSYS); /* none of 64-bit mode */
	assert_memory_equal(&before, &f->regs, sizeof(before));
	f->sregs.cs.l = 0; /* not 64-bit mode */
	assert_int_equal(RUN(f, "\xf3\x0f\xb8\xc7"), -ENOSYS);
}

/* The last instruction of a page, with nothing behind it. */
static void test_fetch_at_page_end(void **state)
{
	struct fake *f = *state;

	f->regs.rip = CODE + 4096 - 4;
	f->regs.rdi = 3;
	assert_int_equal(RUN(f, "\xf3\x0f\xb8\xc7"), 0);
	assert_int_equal(f->regs.rax, 2);
	assert_int_equal(f->regs.rip, CODE + 4096);
	f->regs.rip = NOWHERE;
	insn_cpu_init(&f->cpu, &f->regs, &f->sregs, fake_ram, &fake_ops, f);
	assert_int_equal(insn_execute(f->decoder, &f->cpu), -ENOSYS);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_cmpxchg16b_equal),
		TEST(test_cmpxchg16b_different),
		TEST(test_cmpxchg16b_gs),
		TEST(test_cmpxchg16b_misaligned),
		TEST(test_popcnt),
		TEST(test_popcnt_memory),
		TEST(test_clac_stac),
		TEST(test_ud2),
		TEST(test_mxcsr),
		TEST(test_x87),
		TEST(test_emms_fild),
		TEST(test_fxsave_fxrstor),
		TEST(test_xsave_xrstor),
		TEST(test_xsavec_xrstor),
		TEST(test_xsave_refused),
		TEST(test_page_faults),
		TEST(test_smap),
		TEST(test_write_across_pages),
		TEST(test_not_canonical),
		TEST(test_hostile_tables),
		TEST(test_large_page),
		TEST(test_unknown),
		TEST(test_fetch_at_page_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
