/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unwind-guest.h - on top of fake-guest.h: a made-up kernel with ORC tables or frame pointers, a
 * module of it, and stacks.
 */
#ifndef HVTRACE_TESTS_UNWIND_GUEST_H
#define HVTRACE_TESTS_UNWIND_GUEST_H

#include <stdlib.h>

#include "tests/unit/fake-guest.h"
#include "tracer/unwind/orc.h"
#include "tracer/unwind/unwind.h"

#define SLIDE UINT64_C(0x12000000)

/* Offsets in the image. */
enum {
	TEXT_END = 0x8000,
	ORC_IP = 0x10000,
	ORC_ENTRIES = 0x14000,
	PER_CPU_OFFSET = 0x18000, /* of one CPU, whose area is the image from there on */
	PCPU_CURRENT = 0x100,
	TASK = 0x19000,
	NODES = 0x1a000, /* what its list of replaced returns is made of */
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
	TRAMPOLINE = 0x1b00, /* where probed functions return to */
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

/* False: it cannot be told where its things are. */
static bool unwind_guest_make(void)
{
	char err[256];

	memset(&fake, 0, sizeof(fake));
	fake.ram = calloc(1, FAKE_RAM);
	fake_symbol("_text", FAKE_TEXT, 'T');
	fake_symbol("_stext", FAKE_TEXT, 'T');
	fake_symbol("_etext", FAKE_VA(TEXT_END), 'T');
	fake_symbol("_end", FAKE_VA(IMAGE_END), 'B');
	fake_symbol("__per_cpu_offset", FAKE_VA(PER_CPU_OFFSET), 'D');
	fake_symbol("current_task", PCPU_CURRENT, 'A');
	memset(&guest, 0, sizeof(guest));
	if (!fake.ram || guest_learn(&guest, NULL, err, sizeof(err)))
		return false;
	guest_bind(&guest, NULL);
	guest.slide = SLIDE;
	put_orc(ORC_LAYOUT_6_4);
	return true;
}

/* LEAF, called by PUSHED, by BASED, by ENTRY: a system call. */
static inline struct machine_regs system_call(void)
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

/* With the prologue of one that keeps a frame pointer. */
static inline void put_function(uint64_t off)
{
	static const uint8_t code[] = {0x0f, 0x1f, 0x44, 0, 0, 0x55, 0x48, 0x89, 0xe5};

	memcpy(fake_at(FAKE_VA(off)), code, sizeof(code));
	fake.sites[fake.nsites++] = (struct guestsym_site){.addr = FAKE_VA(off)};
}

/* --- returns that its probes have replaced ----------------------------------------------- */

enum { HOOK_TASK = 16, HOOK_NODE = 8, HOOK_RET = 24, HOOK_FRAME = 32, HOOK_SIZE = 64 };

static inline void add_hooks(void)
{
	fake.vcpus = 1;
	fake_symbol("arch_rethook_trampoline", FAKE_VA(TRAMPOLINE), 'T');
	fake_field("task_struct.rethooks", HOOK_TASK, 8);
	fake_field("rethook_node.llist", HOOK_NODE, 8);
	fake_field("rethook_node.ret_addr", HOOK_RET, 8);
	fake_field("rethook_node.frame", HOOK_FRAME, 8);
	put(FAKE_PA + PER_CPU_OFFSET, va(PER_CPU_OFFSET));
	put(FAKE_PA + PER_CPU_OFFSET + PCPU_CURRENT, va(TASK));
}

/* Node n of the list, the first is 0: the word at address frame was ret. */
static inline void put_hook(unsigned int n, uint64_t frame, uint64_t ret)
{
	uint64_t node = NODES + n * HOOK_SIZE;

	put(FAKE_PA + (n ? node - HOOK_SIZE + HOOK_NODE : TASK + HOOK_TASK), va(node + HOOK_NODE));
	put(FAKE_PA + node + HOOK_NODE, 0);
	put(FAKE_PA + node + HOOK_RET, ret);
	put(FAKE_PA + node + HOOK_FRAME, frame);
}

/* --- a module ---------------------------------------------------------------------------- */

enum { MOD = 0x600000, MOD_IP = 0x601000, MOD_ENTRIES = 0x602000, MOD_TEXT = 0x610000 };
#define MOD_BASE UINT64_C(0xffffffffc0000000)
#define MOD_VA	 (MOD_BASE + MOD_TEXT) /* of the text that rows[] is about */

/* So many of its rows; the first time map_module() as well. */
static inline void put_module(uint32_t nr)
{
	put_table(MOD_BASE + MOD_IP, fake.ram + MOD_IP, fake.ram + MOD_ENTRIES, MOD_VA,
		  ORC_LAYOUT_6_4);
	put(MOD, nr);
	put(MOD + 8, MOD_BASE + MOD_IP);
	put(MOD + 16, MOD_BASE + MOD_ENTRIES);
}

static inline void map_module(void)
{
	fake_map(guest_image_pa(&guest, guest.pgtable_root), MOD_BASE, FAKE_RAM, 0);
	fake_field("module.arch.num_orcs", 0, 4);
	fake_field("module.arch.orc_unwind_ip", 8, 8);
	fake_field("module.arch.orc_unwind", 16, 8);
}

#endif
