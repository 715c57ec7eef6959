// SPDX-License-Identifier: GPL-2.0-or-later
/* test-assist.c - instructions carried out by insn.c, and addresses that fault; needs no KVM. */
#include "tests/unit/insn-fake.h"

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
