// SPDX-License-Identifier: GPL-2.0-or-later
/* branch-stack.c - see branch-stack.h */
#include "vmm/core/branch-stack.h"

#define WORD 8

static struct stack_reg *reg_of(struct branch_stack *s, x86_reg reg)
{
	if (reg == X86_REG_RSP)
		return &s->rsp;
	return reg == X86_REG_RBP ? &s->rbp : NULL;
}

/* Of what is written to a part of it nothing is known. */
static bool is_part_of(uint16_t reg, x86_reg whole)
{
	if (whole == X86_REG_RSP)
		return reg == X86_REG_RSP || reg == X86_REG_ESP || reg == X86_REG_SP ||
		       reg == X86_REG_SPL;
	return reg == X86_REG_RBP || reg == X86_REG_EBP || reg == X86_REG_BP || reg == X86_REG_BPL;
}

/* --- what can be told ------------------------------------------------------------------------- */

static struct stack_reg moved(struct stack_reg from, int64_t by)
{
	from.value += (uint64_t)by;
	return from;
}

static struct stack_reg address(struct branch_stack *s, const x86_op_mem *mem)
{
	const struct stack_reg *base = reg_of(s, mem->base);

	if (!base || mem->index != X86_REG_INVALID)
		return (struct stack_reg){0};
	return moved(*base, mem->disp);
}

/* What lea, mov, add, sub and and make of `to`. */
static struct stack_reg result(struct branch_stack *s, unsigned int id, struct stack_reg to,
			       const cs_x86_op *from)
{
	const struct stack_reg *reg = from->type == X86_OP_REG ? reg_of(s, from->reg) : NULL;

	if (id == X86_INS_LEA)
		return address(s, &from->mem);
	if (id == X86_INS_MOV && reg)
		return *reg;
	if (id == X86_INS_MOV || from->type != X86_OP_IMM)
		return (struct stack_reg){0};
	if (id == X86_INS_AND) {
		to.value &= (uint64_t)from->imm;
		return to;
	}
	return moved(to, id == X86_INS_ADD ? from->imm : -from->imm);
}

/* Which of both it writes what can be told to; NULL: none. */
static struct stack_reg *told(struct branch_stack *s, const cs_insn *insn, struct stack_reg *value)
{
	const cs_x86 *x = &insn->detail->x86;
	struct stack_reg *to;

	switch (insn->id) {
	case X86_INS_PUSH:
	case X86_INS_PUSHFQ:
		*value = moved(s->rsp, -WORD);
		return &s->rsp;
	case X86_INS_POP: /* pop %rsp: what it pops comes last */
		if (x->operands[0].type == X86_OP_REG && reg_of(s, x->operands[0].reg) == &s->rsp)
			return NULL;
		*value = moved(s->rsp, WORD);
		return &s->rsp;
	case X86_INS_POPFQ:
		*value = moved(s->rsp, WORD);
		return &s->rsp;
	case X86_INS_LEAVE:
		*value = moved(s->rbp, WORD);
		return &s->rsp;
	case X86_INS_LEA:
	case X86_INS_MOV:
	case X86_INS_ADD:
	case X86_INS_SUB:
	case X86_INS_AND:
		to = x->operands[0].type == X86_OP_REG ? reg_of(s, x->operands[0].reg) : NULL;
		if (to)
			*value = result(s, insn->id, *to, &x->operands[1]);
		return to;
	default:
		return NULL;
	}
}

/* --- an instruction --------------------------------------------------------------------------- */

static void forget(struct branch_stack *s, csh handle, const cs_insn *insn)
{
	cs_regs read, written;
	uint8_t nread, nwritten;

	/* Capstone 4 does not say of enter what it writes. */
	if (insn->id == X86_INS_ENTER ||
	    cs_regs_access(handle, insn, read, &nread, written, &nwritten)) {
		s->rsp.known = s->rbp.known = false;
		return;
	}
	for (uint8_t i = 0; i < nwritten; i++) {
		s->rsp.known &= !is_part_of(written[i], X86_REG_RSP);
		s->rbp.known &= !is_part_of(written[i], X86_REG_RBP);
	}
}

void branch_stack_pass(struct branch_stack *s, csh handle, const cs_insn *insn)
{
	/* The size of operands: words of 16 bits. */
	bool narrow = insn->detail->x86.prefix[2] == 0x66;
	struct stack_reg value, *to = narrow ? NULL : told(s, insn, &value);

	forget(s, handle, insn);
	if (to)
		*to = value;
}
