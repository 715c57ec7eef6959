/* SPDX-License-Identifier: GPL-2.0-or-later */
/* move-insn.h - what the two halves of move.h look at instructions by. */
#ifndef HVTRACE_TRACER_PROBE_CRITICAL_MOVE_INSN_H
#define HVTRACE_TRACER_PROBE_CRITICAL_MOVE_INSN_H

#include "tracer/guest/site.h"
#include "tracer/probe/critical/move.h"

#include <capstone/capstone.h>

#define INSN_RET 0xc3

struct move_insn {
	uint32_t off;
	uint8_t size, what; /* enum move_class of move.c */
};

struct mover {
	csh cs;
	cs_insn *insn;
	/* The function that is looked at */
	const struct move_bounds *b;
	const uint8_t *code;
	size_t len;
	uint64_t va;
	bool *entered; /* of each byte: something may jump there */
	struct move_insn *v;
	size_t nr, room;
	bool jumps_by_table, has_offsets;
};

/* jcc with 8 bits, or with 32. */
static inline bool move_is_branch(const cs_insn *insn)
{
	return (insn->size == 2 && (insn->bytes[0] & 0xf0) == 0x70) ||
	       (insn->size == 6 && insn->bytes[0] == 0x0f && (insn->bytes[1] & 0xf0) == 0x80);
}

static inline bool move_is_jump(const cs_insn *insn)
{
	return (insn->size == 2 && insn->bytes[0] == 0xeb) ||
	       (insn->size == SITE_SIZE && insn->bytes[0] == INSN_JMP);
}

static inline bool move_is_call(const cs_insn *insn)
{
	return insn->size == SITE_SIZE && insn->bytes[0] == INSN_CALL;
}

static inline bool move_is_return(const cs_insn *insn)
{
	return insn->size == 1 && insn->bytes[0] == INSN_RET;
}

/* Of a direct jump or call. */
static inline uint64_t move_target(const cs_insn *insn)
{
	return (uint64_t)insn->detail->x86.operands[0].imm;
}

static inline const cs_x86_op *move_operand_at_rip(const cs_insn *insn)
{
	const cs_x86 *x86 = &insn->detail->x86;

	for (uint8_t i = 0; i < x86->op_count; i++)
		if (x86->operands[i].type == X86_OP_MEM && x86->operands[i].mem.base == X86_REG_RIP)
			return &x86->operands[i];
	return NULL;
}

#endif
