/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * orc.h - the kernel's ORC tables: for each address in its text, where the caller's stack pointer,
 * return address and %rbp are to be found.
 *
 * objtool makes two arrays per kernel and per module: addresses (each relative to where it lies)
 * in ascending order, and for each a struct orc_entry that holds from there to the next address.
 * Bits of the entries have moved twice; which kernel it is shows in the entries themselves.
 */
#ifndef HVTRACE_TRACER_UNWIND_ORC_H
#define HVTRACE_TRACER_UNWIND_ORC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* As in the arrays (arch/x86/include/asm/orc_types.h); the numbers have stayed. */
enum orc_reg {
	ORC_REG_UNDEFINED,
	ORC_REG_PREV_SP, /* the caller's stack pointer */
	ORC_REG_DX,
	ORC_REG_DI,
	ORC_REG_BP,
	ORC_REG_SP,
	ORC_REG_R10,
	ORC_REG_R13,
	ORC_REG_BP_INDIRECT, /* the word at %rbp + sp_offset */
	ORC_REG_SP_INDIRECT, /* the word at %rsp, plus sp_offset */
};

enum orc_kind {
	ORC_KIND_UNDEFINED, /* not known: data, padding, code that nothing returns to */
	ORC_KIND_END,	    /* the outermost frame */
	ORC_KIND_CALL,	    /* a return address lies below the caller's stack pointer */
	ORC_KIND_REGS,	    /* a struct pt_regs lies there */
	ORC_KIND_IRET,	    /* only its last five words, which the processor has pushed, do */
};

struct orc_row {
	int16_t sp_offset, bp_offset;
	uint8_t sp_reg, bp_reg; /* enum orc_reg, not checked */
	uint8_t kind;		/* enum orc_kind, not checked */
	bool signal;		/* the caller was interrupted: its address is not behind a call */
};

enum orc_layout {
	ORC_LAYOUT_4_14, /* kind: 2 bits (CALL is 0), end */
	ORC_LAYOUT_6_3,	 /* kind: 2 bits, signal, end */
	ORC_LAYOUT_6_4,	 /* kind: 3 bits, signal */
};

struct orc_entry {
	int16_t sp_offset, bp_offset;
	uint16_t flags;
};

struct orc_table {
	uint64_t base; /* the first address */
	size_t nr;
	uint32_t *ip; /* relative to base; ascending */
	struct orc_entry *entries;
	enum orc_layout layout;
	/*
	 * How many addresses are not above the start of each block, for a shorter search; NULL
	 * when it would take more room than the addresses.
	 */
	uint32_t *index;
	size_t blocks;
};

/*
 * Make room for nr entries. The caller copies both arrays to ip and entries as they are, and then
 * calls orc_table_ready(), with the address that the first one lies at. 0 or -ENOMEM.
 */
int orc_table_alloc(struct orc_table *t, size_t nr);
/*
 * The layout is the caller's to set. -EINVAL: the addresses make no sense; -ENOMEM.
 */
int orc_table_ready(struct orc_table *t, uint64_t ip_va);
void orc_table_free(struct orc_table *t); /* of one that is all zero, too */

/* Which layout these have, by what most of them are: frames of calls. */
enum orc_layout orc_layout(const struct orc_entry *entries, size_t nr);

/* The row for this address; false before the first one. */
bool orc_find(const struct orc_table *t, uint64_t ip, struct orc_row *row);

#endif
