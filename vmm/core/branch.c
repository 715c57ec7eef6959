// SPDX-License-Identifier: GPL-2.0-or-later
/* branch.c - see branch.h. Capstone tells lengths and operands, opcodes what they do. */
#include "vmm/core/branch.h"

#include "vmm/core/branch-stack.h"

#include <capstone/capstone.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FLAG_CF	  (UINT64_C(1) << 0)
#define FLAG_PF	  (UINT64_C(1) << 2)
#define FLAG_ZF	  (UINT64_C(1) << 6)
#define FLAG_SF	  (UINT64_C(1) << 7)
#define FLAG_OF	  (UINT64_C(1) << 11)
#define REX_W	  8
#define PAGE_SIZE 4096
#define WORD	  8

/* Reading ahead, but never into a page that nothing asks for. */
#define CHUNK 64

struct branch_decoder {
	csh handle;
	cs_insn *insn;
};

struct branch_decoder *branch_decoder_new(void)
{
	struct branch_decoder *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	if (cs_open(CS_ARCH_X86, CS_MODE_64, &d->handle)) {
		free(d);
		return NULL;
	}
	cs_option(d->handle, CS_OPT_DETAIL, CS_OPT_ON);
	d->insn = cs_malloc(d->handle);
	if (d->insn)
		return d;
	branch_decoder_free(d);
	return NULL;
}

void branch_decoder_free(struct branch_decoder *d)
{
	if (!d)
		return;
	if (d->insn)
		cs_free(d->insn, 1);
	cs_close(&d->handle);
	free(d);
}

/* --- kinds ------------------------------------------------------------------------------------ */

static bool is_interrupt(uint8_t opcode)
{
	return opcode >= 0xcc && opcode <= 0xce; /* int3, int n, into */
}

static bool is_far(uint8_t opcode)
{
	return opcode == 0xca || opcode == 0xcb; /* lret */
}

static enum branch_kind kind_of_two(uint8_t opcode)
{
	if ((opcode & 0xf0) == 0x80)
		return BRANCH_GOES; /* jcc */
	switch (opcode) {
	case 0x05: /* syscall */
	case 0x07: /* sysret */
	case 0x0b: /* ud2 */
	case 0x34: /* sysenter */
	case 0x35: /* sysexit */
	case 0xb9: /* ud1 */
	case 0xff: /* ud0 */
		return BRANCH_OTHER;
	default:
		return BRANCH_NONE;
	}
}

static enum branch_kind kind_of_group(uint8_t modrm)
{
	switch (modrm >> 3 & 7) {
	case 2: /* call */
	case 4: /* jmp */
		return BRANCH_GOES;
	case 3: /* the far ones */
	case 5:
		return BRANCH_OTHER;
	default:
		return BRANCH_NONE;
	}
}

/* An escape byte alone says nothing: VEX and its like have none of these. */
static bool has_legacy_opcode(const cs_insn *insn)
{
	static const uint8_t prefixes[] = {0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65,
					   0x66, 0x67, 0xf0, 0xf2, 0xf3};
	const uint8_t *at = insn->bytes, *end = at + insn->size;

	while (at < end && memchr(prefixes, *at, sizeof(prefixes)))
		at++;
	return at < end && *at != 0xc4 && *at != 0xc5 && *at != 0x62;
}

static enum branch_kind kind_of(const cs_insn *insn)
{
	const uint8_t *opcode = insn->detail->x86.opcode;

	if (!has_legacy_opcode(insn))
		return BRANCH_NONE;
	if (opcode[0] == 0x0f)
		return kind_of_two(opcode[1]);
	if (opcode[0] == 0xff)
		return kind_of_group(insn->detail->x86.modrm);
	if ((opcode[0] & 0xf0) == 0x70 || (opcode[0] >= 0xe0 && opcode[0] <= 0xe3))
		return BRANCH_GOES; /* jcc, loop, jrcxz */
	if (opcode[0] == 0xe8 || opcode[0] == 0xe9 || opcode[0] == 0xeb || opcode[0] == 0xc2 ||
	    opcode[0] == 0xc3 || opcode[0] == 0xcf)
		return BRANCH_GOES; /* call, jmp, ret, iret */
	return is_interrupt(opcode[0]) || is_far(opcode[0]) || opcode[0] == 0xf1 ? BRANCH_OTHER
										 : BRANCH_NONE;
}

/* --- where to --------------------------------------------------------------------------------- */

/* Condition codes as they are numbered in opcodes: SDM vol. 1, appendix B. */
static bool condition(unsigned int code, uint64_t flags)
{
	bool is, less = !(flags & FLAG_SF) != !(flags & FLAG_OF);

	switch (code >> 1) {
	case 0:
		is = flags & FLAG_OF;
		break;
	case 1:
		is = flags & FLAG_CF;
		break;
	case 2:
		is = flags & FLAG_ZF;
		break;
	case 3:
		is = flags & (FLAG_CF | FLAG_ZF);
		break;
	case 4:
		is = flags & FLAG_SF;
		break;
	case 5:
		is = flags & FLAG_PF;
		break;
	case 6:
		is = less;
		break;
	default:
		is = less || flags & FLAG_ZF;
	}
	return is != (code & 1);
}

/* With an address size of 32 bits it is ecx that counts. */
static uint64_t count_mask(const cs_insn *insn)
{
	return insn->detail->x86.addr_size == 4 ? UINT32_MAX : UINT64_MAX;
}

/* loopne, loope, loop, jrcxz */
static bool counts(const cs_insn *insn, const struct machine_regs *regs)
{
	bool zero = regs->rflags & FLAG_ZF;
	uint64_t n = regs->rcx & count_mask(insn);

	switch (insn->detail->x86.opcode[0]) {
	case 0xe0:
		return n != 1 && !zero;
	case 0xe1:
		return n != 1 && zero;
	case 0xe2:
		return n != 1;
	default:
		return !n;
	}
}

static uint64_t rcx_behind(const cs_insn *insn, const struct machine_regs *regs)
{
	uint8_t opcode = insn->detail->x86.opcode[0];

	return opcode >= 0xe0 && opcode <= 0xe2 ? (regs->rcx - 1) & count_mask(insn) : regs->rcx;
}

static bool is_taken(const cs_insn *insn, const struct machine_regs *regs)
{
	const uint8_t *opcode = insn->detail->x86.opcode;

	if (opcode[0] == 0x0f)
		return condition(opcode[1] & 15, regs->rflags);
	if ((opcode[0] & 0xf0) == 0x70)
		return condition(opcode[0] & 15, regs->rflags);
	if (opcode[0] >= 0xe0 && opcode[0] <= 0xe3)
		return counts(insn, regs);
	return true;
}

/* A register of 64 bits; false: none of those that addresses are made of. */
static bool reg_value(const cs_insn *insn, const struct machine_regs *regs, x86_reg reg,
		      uint64_t *value)
{
	static const struct {
		x86_reg reg;
		size_t off;
	} rows[] = {
		{X86_REG_RAX, offsetof(struct machine_regs, rax)},
		{X86_REG_RBX, offsetof(struct machine_regs, rbx)},
		{X86_REG_RCX, offsetof(struct machine_regs, rcx)},
		{X86_REG_RDX, offsetof(struct machine_regs, rdx)},
		{X86_REG_RSI, offsetof(struct machine_regs, rsi)},
		{X86_REG_RDI, offsetof(struct machine_regs, rdi)},
		{X86_REG_RSP, offsetof(struct machine_regs, rsp)},
		{X86_REG_RBP, offsetof(struct machine_regs, rbp)},
		{X86_REG_R8, offsetof(struct machine_regs, r8)},
		{X86_REG_R9, offsetof(struct machine_regs, r9)},
		{X86_REG_R10, offsetof(struct machine_regs, r10)},
		{X86_REG_R11, offsetof(struct machine_regs, r11)},
		{X86_REG_R12, offsetof(struct machine_regs, r12)},
		{X86_REG_R13, offsetof(struct machine_regs, r13)},
		{X86_REG_R14, offsetof(struct machine_regs, r14)},
		{X86_REG_R15, offsetof(struct machine_regs, r15)},
	};

	*value = reg == X86_REG_RIP ? insn->address + insn->size : 0;
	if (reg == X86_REG_INVALID || reg == X86_REG_RIP)
		return true;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (rows[i].reg != reg)
			continue;
		memcpy(value, (const char *)regs + rows[i].off, sizeof(*value));
		return true;
	}
	return false;
}

static bool memory_value(const cs_insn *insn, const struct branch_cpu *cpu, const x86_op_mem *mem,
			 uint64_t *value)
{
	uint64_t base, index;

	/* The other segments begin at 0. */
	if (mem->segment == X86_REG_FS || mem->segment == X86_REG_GS ||
	    insn->detail->x86.addr_size != 8 || !reg_value(insn, cpu->regs, mem->base, &base) ||
	    !reg_value(insn, cpu->regs, mem->index, &index))
		return false;
	return !cpu->read(cpu->arg, base + index * (uint64_t)mem->scale + (uint64_t)mem->disp,
			  value, sizeof(*value));
}

static bool operand_value(const cs_insn *insn, const struct branch_cpu *cpu, uint64_t *value)
{
	const cs_x86_op *op = &insn->detail->x86.operands[0];

	if (!insn->detail->x86.op_count || op->size != sizeof(*value))
		return false;
	switch (op->type) {
	case X86_OP_IMM:
		*value = (uint64_t)op->imm;
		return true;
	case X86_OP_REG:
		return op->reg != X86_REG_INVALID && reg_value(insn, cpu->regs, op->reg, value);
	case X86_OP_MEM:
		return memory_value(insn, cpu, &op->mem, value);
	default:
		return false;
	}
}

/* The word at rsp, and how many bytes of the stack the opcode says as well. */
static bool ret_target(const cs_insn *insn, const struct branch_cpu *cpu, struct branch *b)
{
	const cs_x86 *x = &insn->detail->x86;

	b->rsp += WORD + (x->op_count ? (uint64_t)x->operands[0].imm : 0);
	return !cpu->read(cpu->arg, cpu->regs->rsp, &b->next, sizeof(b->next));
}

static bool iret_target(const cs_insn *insn, const struct branch_cpu *cpu, struct branch *b)
{
	struct {
		uint64_t rip, cs, rflags, rsp, ss;
	} frame;

	if (!(insn->detail->x86.rex & REX_W))
		return false; /* one of narrower words */
	if (cpu->read(cpu->arg, cpu->regs->rsp, &frame, sizeof(frame)))
		return false;
	b->next = frame.rip;
	b->to_user = frame.cs & 3;
	b->rsp = frame.rsp;
	b->rflags = frame.rflags;
	return true;
}

static bool target(const cs_insn *insn, const struct branch_cpu *cpu, struct branch *b)
{
	const cs_x86 *x = &insn->detail->x86;

	if (x->opcode[0] == 0xc2 || x->opcode[0] == 0xc3)
		return ret_target(insn, cpu, b);
	if (x->opcode[0] == 0xcf)
		return iret_target(insn, cpu, b);
	if (insn->id == X86_INS_CALL)
		b->rsp -= WORD;
	return operand_value(insn, cpu, &b->next);
}

/* --- reading ---------------------------------------------------------------------------------- */

/* As many bytes as there are, up to len: the page behind may be missing. */
static size_t read_code(const struct branch_cpu *cpu, uint64_t va, uint8_t *code, size_t len)
{
	size_t first = PAGE_SIZE - (va & (PAGE_SIZE - 1));

	if (!cpu->read(cpu->arg, va, code, len))
		return len;
	return first < len && !cpu->read(cpu->arg, va, code, first) ? first : 0;
}

/* The instruction at *va, which is what follows it then; a byte of it when it is none. */
static bool decode(struct branch_decoder *d, const uint8_t **code, size_t *left, uint64_t *va)
{
	return cs_disasm_iter(d->handle, code, left, va, d->insn);
}

int branch_look(struct branch_decoder *d, const struct branch_cpu *cpu, struct branch *b)
{
	uint8_t code[BRANCH_INSN_MAX];
	const uint8_t *at = code;
	uint64_t va = cpu->regs->rip;
	size_t len = read_code(cpu, va, code, sizeof(code));

	*b = (struct branch){.kind = BRANCH_OTHER};
	if (!len)
		return -EFAULT;
	if (!decode(d, &at, &len, &va))
		return 0;
	b->kind = kind_of(d->insn);
	b->len = (uint8_t)d->insn->size;
	b->next = va;
	b->rsp = cpu->regs->rsp;
	b->rflags = cpu->regs->rflags;
	b->rcx = b->kind == BRANCH_GOES ? rcx_behind(d->insn, cpu->regs) : cpu->regs->rcx;
	if (b->kind != BRANCH_GOES || !is_taken(d->insn, cpu->regs))
		return 0;
	b->taken = target(d->insn, cpu, b);
	if (!b->taken)
		b->kind = BRANCH_OTHER;
	return 0;
}

/* *va: behind what is no branch. */
static bool pass_chunk(struct branch_decoder *d, const uint8_t *code, size_t len, uint64_t *va,
		       struct branch_stack *stack)
{
	uint64_t from = *va, at = *va;

	/* What is cut off at the end is read again. */
	while (decode(d, &code, &len, &at)) {
		if (kind_of(d->insn) != BRANCH_NONE)
			return false;
		branch_stack_pass(stack, d->handle, d->insn);
		*va = at;
	}
	return *va != from; /* it is none */
}

int branch_block_end(struct branch_decoder *d, const struct branch_cpu *cpu, struct branch_end *end)
{
	struct branch_stack stack = {{true, cpu->regs->rsp}, {true, cpu->regs->rbp}};
	const uint64_t start = cpu->regs->rip;
	uint64_t va = start;

	while (va - start < BRANCH_BLOCK_MAX) {
		uint8_t code[CHUNK];
		size_t len = read_code(cpu, va, code, sizeof(code));

		if (!len)
			return -EFAULT;
		if (pass_chunk(d, code, len, &va, &stack))
			continue;
		*end = (struct branch_end){va, stack.rsp.known, stack.rsp.value};
		return 0;
	}
	return -E2BIG;
}
