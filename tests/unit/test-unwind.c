// SPDX-License-Identifier: GPL-2.0-or-later
/* test-unwind.c - stack traces by made-up tables over made-up stacks, and by senseless ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/fake-guest.h"
#include "tracer/orc.h"
#include "tracer/unwind.h"

#define SLIDE UINT64_C(0x12000000)
#define DEPTH 32

/* Offsets in the image. */
enum {
	TEXT_END = 0x8000,
	ORC_IP = 0x10000,
	ORC_ENTRIES = 0x14000,
	IMAGE_END = 0x100000,
	/* Functions. */
	LEAF = 0x1000,	  /* nothing pushed yet */
	PUSHED = 0x1100,  /* %rbp saved, two words of its own */
	BASED = 0x1200,	  /* %rbp is its frame pointer */
	REALIGN = 0x1300, /* %r10 is the caller's stack pointer */
	ON_IRQ = 0x1400,  /* on another stack, whose top word tells of this one */
	ENTRY = 0x1500,	  /* a struct pt_regs is all that it has */
	IRET = 0x1600,	  /* the part of it that iret takes */
	THREAD = 0x1700,  /* nobody has called it */
	NOWHERE = 0x1800,
	NORETURN = 0x18f0, /* ends in a call, what follows is another function's */
	AFTER = 0x1900,
};

/* Physical, and where the direct map has them. */
#define TASK_STACK UINT64_C(0x400000)
#define IRQ_STACK  UINT64_C(0x500000)
#define AT(pa)	   (FAKE_DIRECT + (pa))

#define USER_CS	  0x33
#define KERNEL_CS 0x10

struct row {
	uint64_t ip;
	struct orc_row orc;
};

#define ROW(at, kind_, ...)                                                                        \
	{                                                                                          \
		at,                                                                                \
		{                                                                                  \
			.kind = ORC_KIND_##kind_, ##__VA_ARGS__                                    \
		}                                                                                  \
	}

static const struct row rows[] = {
	ROW(LEAF, CALL, .sp_reg = ORC_REG_SP, .sp_offset = 8),
	ROW(PUSHED, CALL, .sp_reg = ORC_REG_SP, .sp_offset = 32, .bp_reg = ORC_REG_PREV_SP,
	    .bp_offset = -16),
	ROW(BASED, CALL, .sp_reg = ORC_REG_BP, .sp_offset = 16, .bp_reg = ORC_REG_PREV_SP,
	    .bp_offset = -16),
	ROW(REALIGN, CALL, .sp_reg = ORC_REG_R10),
	ROW(ON_IRQ, CALL, .sp_reg = ORC_REG_SP_INDIRECT, .sp_offset = 8),
	ROW(ENTRY, REGS, .sp_reg = ORC_REG_SP, .signal = true),
	ROW(IRET, IRET, .sp_reg = ORC_REG_SP, .signal = true),
	ROW(THREAD, END),
	ROW(NOWHERE, UNDEFINED),
	ROW(NORETURN, CALL, .sp_reg = ORC_REG_SP, .sp_offset = 16),
	ROW(AFTER, END),
	ROW(AFTER + 0x100, UNDEFINED),
	/* The rest is as in a kernel: most of its frames are those of calls. */
	ROW(0x2000, CALL, .sp_reg = ORC_REG_SP, .sp_offset = 8),
	ROW(0x2100, CALL, .sp_reg = ORC_REG_SP, .sp_offset = 16),
	ROW(0x2200, CALL, .sp_reg = ORC_REG_SP, .sp_offset = 24),
	ROW(0x2300, CALL, .sp_reg = ORC_REG_SP, .sp_offset = 32),
	ROW(0x2400, CALL, .sp_reg = ORC_REG_SP, .sp_offset = 40),
};
#define NR_ROWS (sizeof(rows) / sizeof(rows[0]))

static struct guest_kernel guest;

/* --- the made-up kernel ------------------------------------------------------------------ */

/* Run-time address in the image. */
static uint64_t va(uint64_t off)
{
	return FAKE_VA(off) + SLIDE;
}

static uint16_t flags_of(const struct orc_row *r, enum orc_layout layout)
{
	uint16_t regs = (uint16_t)(r->sp_reg | r->bp_reg << 4);
	uint16_t old = r->kind > ORC_KIND_CALL ? (uint16_t)(r->kind - ORC_KIND_CALL) : 0;
	bool end = r->kind == ORC_KIND_END;

	switch (layout) {
	case ORC_LAYOUT_4_14:
		return (uint16_t)(regs | old << 8 | end << 10);
	case ORC_LAYOUT_6_3:
		return (uint16_t)(regs | old << 8 | r->signal << 10 | end << 11);
	default:
		return (uint16_t)(regs | r->kind << 8 | r->signal << 11);
	}
}

static void put_table(uint64_t ip_va, uint8_t *ips, uint8_t *entries, uint64_t base,
		      enum orc_layout layout)
{
	for (size_t i = 0; i < NR_ROWS; i++) {
		int32_t rel = (int32_t)(base + rows[i].ip - (ip_va + 4 * i));
		struct orc_entry e = {rows[i].orc.sp_offset, rows[i].orc.bp_offset,
				      flags_of(&rows[i].orc, layout)};

		memcpy(ips + 4 * i, &rel, sizeof(rel));
		memcpy(entries + sizeof(e) * i, &e, sizeof(e));
	}
}

static void put_orc(enum orc_layout layout)
{
	put_table(FAKE_VA(ORC_IP), fake_at(FAKE_VA(ORC_IP)), fake_at(FAKE_VA(ORC_ENTRIES)),
		  FAKE_TEXT, layout);
	fake.orc_ip = (struct guestsym_range){FAKE_VA(ORC_IP), FAKE_VA(ORC_IP + 4 * NR_ROWS)};
	fake.orc_unwind = (struct guestsym_range){
		FAKE_VA(ORC_ENTRIES), FAKE_VA(ORC_ENTRIES + sizeof(struct orc_entry) * NR_ROWS)};
}

static void put(uint64_t pa, uint64_t word)
{
	memcpy(fake.ram + pa, &word, sizeof(word));
}

static int setup(void **state)
{
	char err[256];

	(void)state;
	memset(&fake, 0, sizeof(fake));
	fake.ram = calloc(1, FAKE_RAM);
	fake_symbol("_text", FAKE_TEXT, 'T');
	fake_symbol("_stext", FAKE_TEXT, 'T');
	fake_symbol("_etext", FAKE_VA(TEXT_END), 'T');
	fake_symbol("_end", FAKE_VA(IMAGE_END), 'B');
	assert_int_equal(guest_learn(&guest, NULL, err, sizeof(err)), 0);
	guest_bind(&guest, NULL);
	guest.slide = SLIDE;
	put_orc(ORC_LAYOUT_6_4);
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

/* LEAF, called by PUSHED, by BASED, by ENTRY: a system call. */
static struct machine_regs system_call(void)
{
	uint64_t sp = TASK_STACK + 0x1000;

	put(sp, va(PUSHED + 9));
	put(sp + 8 + 16, AT(sp + 0x80)); /* %rbp of BASED */
	put(sp + 8 + 24, va(BASED + 9));
	put(sp + 0x80, 0x1234);
	put(sp + 0x88, va(ENTRY + 9));
	put(sp + 0x90 + 128, va(BASED)); /* which user mode may say, too */
	put(sp + 0x90 + 136, USER_CS);
	return (struct machine_regs){.rip = va(LEAF + 5), .rsp = AT(sp), .rbp = 7};
}

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

/* --- frame pointers ---------------------------------------------------------------------- */

static void put_function(uint64_t off)
{
	static const uint8_t code[] = {0x0f, 0x1f, 0x44, 0, 0, 0x55, 0x48, 0x89, 0xe5};

	memcpy(fake_at(FAKE_VA(off)), code, sizeof(code));
	fake.sites[fake.nsites++] = (struct guestsym_site){.addr = FAKE_VA(off)};
}

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

enum { MOD = 0x600000, MOD_IP = 0x601000, MOD_ENTRIES = 0x602000, MOD_TEXT = 0x610000 };
#define MOD_BASE UINT64_C(0xffffffffc0000000)
#define MOD_VA	 (MOD_BASE + MOD_TEXT) /* of the text that rows[] is about */

static void put_module(uint32_t nr)
{
	put_table(MOD_BASE + MOD_IP, fake.ram + MOD_IP, fake.ram + MOD_ENTRIES, MOD_VA,
		  ORC_LAYOUT_6_4);
	put(MOD, nr);
	put(MOD + 8, MOD_BASE + MOD_IP);
	put(MOD + 16, MOD_BASE + MOD_ENTRIES);
}

static void test_modules(void **state)
{
	const struct guestsym_module mod = {.addr = MOD_BASE + MOD,
					    .text = {MOD_VA, MOD_VA + TEXT_END}};
	struct machine_regs regs = {.rip = va(LEAF), .rsp = AT(TASK_STACK)};
	struct unwind *u = new_unwind();

	(void)state;
	fake_map(guest.pgtable_root, MOD_BASE, FAKE_RAM, 0);
	fake.maps[0].root = guest_image_pa(&guest, guest.pgtable_root);
	fake_field("module.arch.num_orcs", 0, 4);
	fake_field("module.arch.orc_unwind_ip", 8, 8);
	fake_field("module.arch.orc_unwind", 16, 8);
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
	unsigned int seed = 1;

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
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
