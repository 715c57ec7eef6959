// SPDX-License-Identifier: GPL-2.0-or-later
/* operand.c - what an instruction works on: registers, addresses, and the guest's memory. */
#include "vmm/kvm/insn/insn.h"

#include <capstone/capstone.h>
#include <errno.h>
#include <string.h>

#define CR4_LA57 (UINT64_C(1) << 12)

/* --- registers ----------------------------------------------------------------------------- */

#define REG_ROW(field, r64, r32, r16)                                                              \
	{                                                                                          \
		offsetof(struct kvm_regs, field), X86_REG_##r64, X86_REG_##r32, X86_REG_##r16      \
	}

static const struct reg_row {
	size_t offset;
	x86_reg r64, r32, r16;
} reg_rows[] = {
	REG_ROW(rax, RAX, EAX, AX),    REG_ROW(rbx, RBX, EBX, BX),    REG_ROW(rcx, RCX, ECX, CX),
	REG_ROW(rdx, RDX, EDX, DX),    REG_ROW(rsi, RSI, ESI, SI),    REG_ROW(rdi, RDI, EDI, DI),
	REG_ROW(rsp, RSP, ESP, SP),    REG_ROW(rbp, RBP, EBP, BP),    REG_ROW(r8, R8, R8D, R8W),
	REG_ROW(r9, R9, R9D, R9W),     REG_ROW(r10, R10, R10D, R10W), REG_ROW(r11, R11, R11D, R11W),
	REG_ROW(r12, R12, R12D, R12W), REG_ROW(r13, R13, R13D, R13W), REG_ROW(r14, R14, R14D, R14W),
	REG_ROW(r15, R15, R15D, R15W),
};

__u64 *insn_reg(struct insn_cpu *cpu, unsigned int reg, unsigned int *size)
{
	for (size_t i = 0; i < sizeof(reg_rows) / sizeof(reg_rows[0]); i++) {
		const struct reg_row *row = &reg_rows[i];

		if (reg != row->r64 && reg != row->r32 && reg != row->r16)
			continue;
		*size = reg == row->r64 ? 8 : reg == row->r32 ? 4 : 2;
		return (__u64 *)(void *)((char *)cpu->regs + row->offset);
	}
	return NULL;
}

uint64_t insn_low_bytes(uint64_t val, unsigned int size)
{
	return size == 8 ? val : val & ((UINT64_C(1) << size * 8) - 1);
}

/* --- memory -------------------------------------------------------------------------------- */

static bool address_canonical(const struct insn_cpu *cpu, uint64_t va)
{
	unsigned int unused = cpu->sregs->cr4 & CR4_LA57 ? 64 - 57 : 64 - 48;

	return (uint64_t)((int64_t)(va << unused) >> unused) == va;
}

static uint64_t segment_base(const struct insn_cpu *cpu, x86_reg segment)
{
	if (segment == X86_REG_FS)
		return cpu->sregs->fs.base;
	return segment == X86_REG_GS ? cpu->sregs->gs.base : 0;
}

/* Value of a register in an address; rip is that of the next instruction. */
static int address_part(struct insn_cpu *cpu, const cs_insn *insn, x86_reg reg, uint64_t *val)
{
	unsigned int size;
	__u64 *r;

	*val = 0;
	if (reg == X86_REG_INVALID || reg == X86_REG_RIZ || reg == X86_REG_EIZ)
		return 0;
	if (reg == X86_REG_RIP || reg == X86_REG_EIP) {
		*val = cpu->regs->rip + insn->size;
		return 0;
	}
	r = insn_reg(cpu, reg, &size);
	if (!r)
		return -ENOSYS;
	*val = insn_low_bytes(*r, size);
	return 0;
}

int insn_address(struct insn_cpu *cpu, const struct cs_insn *insn, unsigned int op,
		 unsigned int align, uint64_t *va)
{
	const cs_x86 *x86 = &insn->detail->x86;
	const x86_op_mem *mem = &x86->operands[op].mem;
	bool stack = mem->segment == X86_REG_SS ||
		     (mem->segment == X86_REG_INVALID &&
		      (mem->base == X86_REG_RSP || mem->base == X86_REG_RBP));
	uint64_t base, index;
	int err;

	if (op >= x86->op_count || x86->operands[op].type != X86_OP_MEM)
		return -ENOSYS;
	err = address_part(cpu, insn, mem->base, &base);
	if (!err)
		err = address_part(cpu, insn, mem->index, &index);
	if (err)
		return err;
	*va = segment_base(cpu, mem->segment) +
	      insn_low_bytes(base + index * (uint64_t)mem->scale + (uint64_t)mem->disp,
			     x86->addr_size);
	if (!address_canonical(cpu, *va))
		return insn_raise_error(cpu, stack ? VECTOR_SS : VECTOR_GP, 0);
	return *va % align ? insn_raise_error(cpu, VECTOR_GP, 0) : 0;
}

static int raise_page_fault(struct insn_cpu *cpu, uint64_t va, uint32_t error)
{
	insn_raise_error(cpu, VECTOR_PF, error);
	cpu->fault.address = va;
	return -EFAULT;
}

int insn_page(struct insn_cpu *cpu, uint64_t va, size_t len, bool write, void **host)
{
	uint32_t error;
	uint64_t pa;
	int err = paging_walk(&cpu->paging, va, write, &pa, &error);

	if (err == -EFAULT)
		return raise_page_fault(cpu, va, error);
	if (err)
		return err;
	*host = cpu->paging.ram(cpu->paging.arg, pa, len);
	return *host ? 0 : -EIO;
}

struct span {
	void *host[2];
	size_t len[2]; /* the second one is 0 within a page */
};

/* Both pages are found before either is touched. len is at most a page. */
static int find_span(struct insn_cpu *cpu, uint64_t va, size_t len, bool write, struct span *s)
{
	size_t room = PAGING_SIZE - va % PAGING_SIZE;
	int err;

	s->len[0] = len < room ? len : room;
	s->len[1] = len - s->len[0];
	err = insn_page(cpu, va, s->len[0], write, &s->host[0]);
	if (!err && s->len[1])
		err = insn_page(cpu, va + s->len[0], s->len[1], write, &s->host[1]);
	return err;
}

int insn_read(struct insn_cpu *cpu, uint64_t va, void *buf, size_t len)
{
	struct span s;
	int err = find_span(cpu, va, len, false, &s);

	if (err)
		return err;
	memcpy(buf, s.host[0], s.len[0]);
	if (s.len[1])
		memcpy((char *)buf + s.len[0], s.host[1], s.len[1]);
	return 0;
}

int insn_write(struct insn_cpu *cpu, uint64_t va, const void *buf, size_t len)
{
	struct span s;
	int err = find_span(cpu, va, len, true, &s);

	if (err)
		return err;
	memcpy(s.host[0], buf, s.len[0]);
	if (s.len[1])
		memcpy(s.host[1], (const char *)buf + s.len[0], s.len[1]);
	return 0;
}
