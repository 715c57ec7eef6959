// SPDX-License-Identifier: GPL-2.0-or-later
/* test-unwind.c - stack traces by made-up tables over made-up stacks, and by senseless ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/seed.h"
#include "tests/unit/unwind-guest.h"
#include "tracer/unwind/unwind.h"

#define DEPTH 32

static int setup(void **state)
{
	(void)state;
	assert_true(unwind_guest_make());
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	free(fake.ram);
	return 0;
}

static struct unwind *new_unwind(void)
{
	char err[256];
	struct unwind *u = unwind_new(NULL, err, sizeof(err));

	if (!u)
		fail_msg("%s", err);
	return u;
}

static void expect(struct unwind *u, const struct machine_regs *regs, const uint64_t *ips,
		   unsigned int n)
{
	uint64_t got[DEPTH], sps[DEPTH];

	assert_int_equal(unwind_stack(u, &guest, regs, got, sps, DEPTH), n);
	for (unsigned int i = 0; i < n; i++)
		assert_int_equal(got[i], ips[i]);
	assert_int_equal(sps[0], regs->rsp);
}

#define EXPECT(u, regs, ...)                                                                       \
	expect(u, regs, (const uint64_t[]){__VA_ARGS__},                                           \
	       sizeof((const uint64_t[]){__VA_ARGS__}) / 8)

/* --- tests ------------------------------------------------------------------------------- */

/* Found by halving, in a table that is dense enough for an index and in one that is not. */
static void test_search(void **state)
{
	(void)state;
	for (uint32_t step = 16; step <= 4096; step *= 16) {
		enum { NR = 1000 };
		struct orc_table t;
		struct orc_row row;
		uint64_t base = FAKE_TEXT + 40;

		assert_int_equal(orc_table_alloc(&t, NR), 0);
		for (uint32_t i = 0; i < NR; i++) {
			/* Two at each address: the last one counts. */
			t.ip[i] = (uint32_t)(base + i / 2 * step - (FAKE_TEXT + 4 * i));
			t.entries[i].sp_offset = (int16_t)i;
		}
		assert_int_equal(orc_table_ready(&t, FAKE_TEXT), 0);
		assert_true(step == 16 ? t.index != NULL : step < 4096 || t.index == NULL);
		assert_false(orc_find(&t, base - 1, &row));
		for (uint32_t off = 0; off < NR / 2 * step + 600; off += 8) {
			uint32_t i = off / step < NR / 2 ? off / step * 2 + 1 : NR - 1;

			assert_true(orc_find(&t, base + off, &row));
			assert_int_equal(row.sp_offset, i);
		}
		assert_true(orc_find(&t, UINT64_MAX, &row));
		assert_int_equal(row.sp_offset, NR - 1);
		orc_table_free(&t);
	}
}

static void test_layouts(void **state)
{
	(void)state;
	for (int l = ORC_LAYOUT_4_14; l <= ORC_LAYOUT_6_4; l++) {
		struct machine_regs regs = system_call();
		struct unwind *u;

		put_orc((enum orc_layout)l);
		assert_int_equal(orc_layout((const void *)fake_at(FAKE_VA(ORC_ENTRIES)), NR_ROWS),
				 l);
		u = new_unwind();
		EXPECT(u, &regs, va(LEAF + 5), va(PUSHED + 9), va(BASED + 9), va(ENTRY + 9));
		unwind_free(u);
	}
}

static void test_stack_pointers(void **state)
{
	struct machine_regs regs = system_call();
	struct unwind *u = new_unwind();
	uint64_t ips[DEPTH], sps[DEPTH];

	(void)state;
	assert_int_equal(unwind_stack(u, &guest, &regs, ips, sps, DEPTH), 4);
	assert_int_equal(sps[1], regs.rsp + 8);
	assert_int_equal(sps[2], regs.rsp + 8 + 32);
	assert_int_equal(sps[3], regs.rsp + 0x90);
	assert_int_equal(unwind_stack(u, &guest, &regs, ips, NULL, 2), 2);
	assert_int_equal(unwind_stack(u, &guest, &regs, ips, NULL, 0), 0);
	unwind_free(u);
}

/*
 * A timer's LEAF on the interrupt stack, called by ON_IRQ, called by ENTRY, which came in at the
 * first byte of AFTER: that is the end, where what lies before it would not be.
 */
static void test_interrupt(void **state)
{
	struct machine_regs regs = {.rip = va(LEAF), .rsp = AT(IRQ_STACK + 0xff0)};
	uint64_t sp = TASK_STACK + 0x800;
	struct unwind *u;

	(void)state;
	put(IRQ_STACK + 0xff0, va(ON_IRQ + 9));
	put(IRQ_STACK + 0xff8, AT(sp));
	put(sp, va(ENTRY + 9));
	put(sp + 8 + 128, va(AFTER));
	put(sp + 8 + 136, KERNEL_CS);
	put(sp + 8 + 152, AT(sp + 0x100));
	put(sp + 0x108, va(THREAD + 1));
	for (int l = ORC_LAYOUT_4_14; l <= ORC_LAYOUT_6_4; l++) {
		put_orc((enum orc_layout)l);
		u = new_unwind();
		EXPECT(u, &regs, va(LEAF), va(ON_IRQ + 9), va(ENTRY + 9), va(AFTER));
		unwind_free(u);
	}
}

/* The return address of a call that ends a function is the next function's. */
static void test_noreturn(void **state)
{
	struct machine_regs regs = {.rip = va(LEAF), .rsp = AT(TASK_STACK)};
	struct unwind *u = new_unwind();

	(void)state;
	put(TASK_STACK, va(AFTER));
	put(TASK_STACK + 16, va(THREAD + 4));
	EXPECT(u, &regs, va(LEAF), va(AFTER), va(THREAD + 4));
	unwind_free(u);
}

/* %r10 is known where the guest stands and where it was interrupted, also twice; no further. */
static void test_registers(void **state)
{
	struct machine_regs regs = {.rip = va(REALIGN), .rsp = AT(TASK_STACK)};
	struct unwind *u = new_unwind();
	uint64_t sp = TASK_STACK + 0x200;

	(void)state;
	regs.r10 = AT(sp);
	put(sp - 8, va(ENTRY));
	put(sp + 56, AT(sp + 0x400)); /* r10 */
	put(sp + 128, va(IRET));
	put(sp + 136, KERNEL_CS);
	put(sp + 152, AT(sp + 0x200));
	put(sp + 0x200, va(REALIGN + 2));
	put(sp + 0x200 + 8, KERNEL_CS);
	put(sp + 0x200 + 24, AT(sp + 0x300));
	put(sp + 0x400 - 8, va(REALIGN + 6));
	/* ENTRY was called, so what is looked up is the byte before it. */
	put(sp - 8, va(ENTRY + 1));
	EXPECT(u, &regs, va(REALIGN), va(ENTRY + 1), va(IRET), va(REALIGN + 2), va(REALIGN + 6));
	regs.rip = va(LEAF);
	put(TASK_STACK, va(REALIGN + 1));
	EXPECT(u, &regs, va(LEAF), va(REALIGN + 1));
	unwind_free(u);
}

/* No more registers are needed at a function's entry. */
static void test_entry(void **state)
{
	struct machine_regs regs = system_call();
	struct unwind *u = new_unwind();
	uint64_t ips[DEPTH];

	(void)state;
	assert_int_equal(unwind_entry(u, &guest, regs.rip, regs.rsp, 0, ips, NULL, DEPTH), 4);
	assert_int_equal(ips[3], va(ENTRY + 9));
	put(TASK_STACK, va(BASED + 1));
	assert_int_equal(unwind_entry(u, &guest, va(LEAF), AT(TASK_STACK), 0, ips, NULL, DEPTH), 2);
	assert_int_equal(ips[1], va(BASED + 1));
	put(TASK_STACK + 0x20, 0);
	put(TASK_STACK + 0x28, va(ENTRY + 9));
	assert_int_equal(unwind_entry(u, &guest, va(LEAF), AT(TASK_STACK), AT(TASK_STACK + 0x20),
				      ips, NULL, DEPTH),
			 3);
	assert_int_equal(ips[2], va(ENTRY + 9));
	unwind_free(u);
}

static void test_bad_stacks(void **state)
{
	struct machine_regs regs = {.rip = va(LEAF), .rsp = AT(TASK_STACK)};
	struct unwind *u = new_unwind();
	uint64_t ips[1000];

	(void)state;
	put(TASK_STACK, 0x401000);
	EXPECT(u, &regs, va(LEAF)); /* returns to user mode */
	put(TASK_STACK, va(TEXT_END));
	EXPECT(u, &regs, va(LEAF)); /* to data */
	put(TASK_STACK, va(NOWHERE + 1));
	EXPECT(u, &regs, va(LEAF), va(NOWHERE + 1));
	put(TASK_STACK + 0xffc, va(THREAD + 1)); /* not aligned, and across two pages */
	regs.rsp = AT(TASK_STACK) + 0xffc;
	EXPECT(u, &regs, va(LEAF));
	put(TASK_STACK, va(THREAD + 1));
	regs.rsp = 0x7fff00001000; /* user memory */
	fake_map(guest_image_pa(&guest, guest.pgtable_root), regs.rsp, 0x1000, TASK_STACK);
	EXPECT(u, &regs, va(LEAF));
	regs.rsp = AT(TASK_STACK);
	EXPECT(u, &regs, va(LEAF), va(THREAD + 1));
	regs.rsp = AT(FAKE_RAM);
	EXPECT(u, &regs, va(LEAF));
	regs.rip = 0x401000;
	EXPECT(u, &regs, 0x401000);

	/* A frame that leads to itself. */
	regs = (struct machine_regs){.rip = va(BASED), .rsp = AT(TASK_STACK)};
	regs.rbp = AT(TASK_STACK + 64);
	put(TASK_STACK + 64, regs.rbp);
	put(TASK_STACK + 72, va(BASED + 1));
	assert_int_equal(unwind_stack(u, &guest, &regs, ips, NULL, 1000), 2);
	/* Two that lead to each other, far apart. */
	put(TASK_STACK + 64, AT(IRQ_STACK));
	put(IRQ_STACK, regs.rbp);
	put(IRQ_STACK + 8, va(BASED + 1));
	assert_in_range(unwind_stack(u, &guest, &regs, ips, NULL, 1000), 3, 12);
	unwind_free(u);
}

static void test_no_tables(void **state)
{
	struct machine_regs regs = system_call();
	char err[256];
	int32_t first;

	(void)state;
	memcpy(&first, fake_at(FAKE_VA(ORC_IP)), sizeof(first));
	first += 0x4000; /* not in order */
	memcpy(fake_at(FAKE_VA(ORC_IP)), &first, sizeof(first));
	assert_null(unwind_new(NULL, err, sizeof(err)));
	put_orc(ORC_LAYOUT_6_4);
	fake.orc_unwind.end -= sizeof(struct orc_entry);
	assert_null(unwind_new(NULL, err, sizeof(err)));
	put_orc(ORC_LAYOUT_6_4);
	fake.orc_ip.start += UINT64_C(1) << 32;
	fake.orc_ip.end += UINT64_C(1) << 32;
	assert_null(unwind_new(NULL, err, sizeof(err)));
	fake.orc_ip = fake.orc_unwind = (struct guestsym_range){0};
	assert_null(unwind_new(NULL, err, sizeof(err)));
	assert_non_null(strstr(err, "CONFIG_UNWINDER_ORC"));
	EXPECT(NULL, &regs, va(LEAF + 5));
}

/* --- probes of returns ------------------------------------------------------------------- */

/* PUSHED and BASED return to the trampoline: the list has where they would have gone. */
static void test_hooks(void **state)
{
	struct machine_regs regs = system_call();
	uint64_t sp = TASK_STACK + 0x1000;
	struct unwind *u;

	(void)state;
	add_hooks();
	u = new_unwind();
	put(sp, va(TRAMPOLINE));
	put(sp + 8 + 24, va(TRAMPOLINE));
	put_hook(0, AT(sp), va(TRAMPOLINE)); /* of two probes of one return */
	put_hook(1, AT(sp), va(PUSHED + 9));
	put_hook(2, AT(sp + 8 + 24), va(BASED + 9));
	EXPECT(u, &regs, va(LEAF + 5), va(PUSHED + 9), va(BASED + 9), va(ENTRY + 9));
	put_hook(1, AT(sp), 0x401000); /* to user mode */
	EXPECT(u, &regs, va(LEAF + 5));
	/* A ring. */
	put_hook(1, 8, 8);
	put(FAKE_PA + NODES + HOOK_SIZE + HOOK_NODE, va(NODES + HOOK_NODE));
	EXPECT(u, &regs, va(LEAF + 5), va(TRAMPOLINE));
	unwind_free(u);
}

/* --- frame pointers ---------------------------------------------------------------------- */

static void test_frame_pointers(void **state)
{
	uint64_t sp = TASK_STACK + 0x100, frame = sp + 0x40, irq = sp + 0x80;
	struct machine_regs regs = {.rip = va(LEAF + 5), .rsp = AT(sp), .rbp = AT(frame)};
	struct unwind *u;

	(void)state;
	fake.orc_ip = fake.orc_unwind = (struct guestsym_range){0};
	put_function(LEAF);
	put_function(PUSHED);
	u = new_unwind();
	put(sp, va(PUSHED + 0x20));
	put(frame, AT(irq) + 1); /* registers */
	put(frame + 8, va(ENTRY + 9));
	put(irq + 32, AT(irq + 0x100));
	put(irq + 128, va(LEAF + 0x30));
	put(irq + 136, KERNEL_CS);
	put(irq + 152, AT(irq + 0xe0));
	put(irq + 0x100, AT(irq + 0x200) + 1);
	put(irq + 0x108, va(THREAD));
	put(irq + 0x200 + 128, 0x401000);
	put(irq + 0x200 + 136, USER_CS);
	EXPECT(u, &regs, va(LEAF + 5), va(PUSHED + 0x20), va(ENTRY + 9), va(LEAF + 0x30),
	       va(THREAD));
	/* Within the function its frame is there. */
	regs.rip = va(LEAF + 0x30);
	EXPECT(u, &regs, va(LEAF + 0x30), va(ENTRY + 9), va(LEAF + 0x30), va(THREAD));
	unwind_free(u);
}

/* --- modules ----------------------------------------------------------------------------- */

static void test_modules(void **state)
{
	const struct guestsym_module mod = {.addr = MOD_BASE + MOD,
					    .text = {MOD_VA, MOD_VA + TEXT_END}};
	struct machine_regs regs = {.rip = va(LEAF), .rsp = AT(TASK_STACK)};
	struct unwind *u = new_unwind();

	(void)state;
	map_module();
	put(TASK_STACK, MOD_VA + PUSHED + 2);
	put(TASK_STACK + 32, va(THREAD + 2));
	regs.rbp = AT(TASK_STACK + 0x100);
	put(TASK_STACK + 0x108, va(THREAD + 3));

	/* Not known: perhaps it has frame pointers. */
	EXPECT(u, &regs, va(LEAF), MOD_VA + PUSHED + 2, va(THREAD + 3));
	put_module(NR_ROWS);
	assert_int_equal(unwind_modules(u, NULL, &guest, &mod, 1), 0);
	EXPECT(u, &regs, va(LEAF), MOD_VA + PUSHED + 2, va(THREAD + 2));
	put_module(UINT32_MAX);
	assert_int_equal(unwind_modules(u, NULL, &guest, &mod, 1), 0);
	EXPECT(u, &regs, va(LEAF), MOD_VA + PUSHED + 2, va(THREAD + 3));
	put_module(NR_ROWS);
	put(MOD + 8, MOD_BASE + FAKE_RAM);
	assert_int_equal(unwind_modules(u, NULL, &guest, &mod, 1), 0);
	EXPECT(u, &regs, va(LEAF), MOD_VA + PUSHED + 2, va(THREAD + 3));
	put_module(NR_ROWS);
	assert_int_equal(unwind_modules(u, NULL, &guest, &mod, 1), 0);
	assert_int_equal(unwind_modules(u, NULL, &guest, NULL, 0), 0);
	EXPECT(u, &regs, va(LEAF), MOD_VA + PUSHED + 2, va(THREAD + 3));
	unwind_free(u);
}

/* --- senseless tables and stacks --------------------------------------------------------- */

static uint64_t random_address(unsigned int *seed)
{
	uint64_t off = (uint64_t)rand_r(seed);

	switch (rand_r(seed) % 8) {
	case 0:
		return off << 33 | off;
	case 1:
		return va(off % IMAGE_END);
	case 2:
	case 3:
		return va(off % TEXT_END);
	default:
		return AT(TASK_STACK + off % 0x4000 / 8 * 8);
	}
}

static void random_round(unsigned int *seed)
{
	struct machine_regs regs = {0};
	uint64_t ips[DEPTH];
	struct unwind *u;
	char err[256];

	put_orc((enum orc_layout)(rand_r(seed) % 3));
	for (size_t i = 0; i < NR_ROWS; i++) {
		uint8_t *e = fake_at(FAKE_VA(ORC_ENTRIES)) + sizeof(struct orc_entry) * i;

		for (size_t k = 0; k < sizeof(struct orc_entry); k++)
			if (rand_r(seed) % 3 == 0)
				e[k] = (uint8_t)rand_r(seed);
	}
	for (uint64_t off = 0; off < 0x4000; off += 8)
		put(TASK_STACK + off, random_address(seed));
	regs.rip = random_address(seed);
	regs.rsp = random_address(seed);
	regs.rbp = random_address(seed);
	regs.r10 = random_address(seed);
	regs.r13 = random_address(seed);
	u = unwind_new(NULL, err, sizeof(err));
	assert_non_null(u);
	assert_in_range(unwind_stack(u, &guest, &regs, ips, NULL, DEPTH), 1, DEPTH);
	assert_int_equal(ips[0], regs.rip);
	assert_in_range(unwind_entry(u, &guest, regs.rip, regs.rsp, regs.rbp, ips, NULL, DEPTH), 1,
			DEPTH);
	unwind_free(u);
}

static void test_random(void **state)
{
	unsigned int seed = test_seed();

	(void)state;
	for (int i = 0; i < 5000; i++)
		random_round(&seed);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_search),    TEST(test_layouts),	 TEST(test_stack_pointers),
		TEST(test_interrupt), TEST(test_noreturn),	 TEST(test_registers),
		TEST(test_entry),     TEST(test_bad_stacks),	 TEST(test_no_tables),
		TEST(test_modules),   TEST(test_frame_pointers), TEST(test_random),
		TEST(test_hooks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
