// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * insn.c - carries out single instructions that KVM's emulator refuses: decoding by capstone,
 * operands, memory, and those of the integer unit.
 *
 * What the instructions do is in Intel SDM vol. 2. Another one is a row in rows[] and a handler.
 */
#include "vmm/kvm/insn.h"

#include <capstone/capstone.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FLAG_CF		 (UINT64_C(1) << 0)
#define FLAG_PF		 (UINT64_C(1) << 2)
#define FLAG_AF		 (UINT64_C(1) << 4)
#define FLAG_ZF		 (UINT64_C(1) << 6)
#define FLAG_SF		 (UINT64_C(1) << 7)
#define FLAG_OF		 (UINT64_C(1) << 11)
#define FLAG_AC		 (UINT64_C(1) << 18)
#define FLAGS_ARITHMETIC (FLAG_CF | FLAG_PF | FLAG_AF | FLAG_ZF | FLAG_SF | FLAG_OF)

#define CR4_LA57 (UINT64_C(1) << 12)
#define CR4_SMAP (UINT64_C(1) << 21)

struct insn_decoder {
	csh handle;
	cs_insn *insn;
};

/* --- exceptions ---------------------------------------------------------------------------- */

static int insn_raise_page_fault(struct insn_cpu *cpu, uint64_t va, uint32_t error)
{
	insn_raise_error(cpu, VECTOR_PF, error);
	cpu->fault.address = va;
	return -EFAULT;
}

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

/* The 64-bit register that reg is or is part of, and reg's size in bytes; NULL for others. */
static __u64 *insn_reg(struct insn_cpu *cpu, x86_reg reg, unsigned int *size)
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

static uint64_t low_bytes(uint64_t val, unsigned int size)
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
	*val = low_bytes(*r, size);
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
	      low_bytes(base + index * (uint64_t)mem->scale + (uint64_t)mem->disp, x86->addr_size);
	if (!address_canonical(cpu, *va))
		return insn_raise_error(cpu, stack ? VECTOR_SS : VECTOR_GP, 0);
	return *va % align ? insn_raise_error(cpu, VECTOR_GP, 0) : 0;
}

/* Host address of the bytes of one page. */
static int insn_page(struct insn_cpu *cpu, uint64_t va, size_t len, bool write, void **host)
{
	uint32_t error;
	uint64_t pa;
	int err = paging_walk(&cpu->paging, va, write, &pa, &error);

	if (err == -EFAULT)
		return insn_raise_page_fault(cpu, va, error);
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
static int insn_span(struct insn_cpu *cpu, uint64_t va, size_t len, bool write, struct span *s)
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
	int err = insn_span(cpu, va, len, false, &s);

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
	int err = insn_span(cpu, va, len, true, &s);

	if (err)
		return err;
	memcpy(s.host[0], buf, s.len[0]);
	if (s.len[1])
		memcpy(s.host[1], (const char *)buf + s.len[0], s.len[1]);
	return 0;
}

/* --- handlers ------------------------------------------------------------------------------ */

/* The host's own instruction, as the other vCPUs may be at the same bytes. */
static bool host_cmpxchg16b(void *mem, uint64_t *low, uint64_t *high, uint64_t new_low,
			    uint64_t new_high)
{
	bool equal;

	__asm__ volatile("lock cmpxchg16b %1"
			 : "=@ccz"(equal), "+m"(*(unsigned __int128 *)mem), "+a"(*low), "+d"(*high)
			 : "b"(new_low), "c"(new_high)
			 : "memory");
	return equal;
}

static int insn_cmpxchg16b(struct insn_cpu *cpu, const cs_insn *insn)
{
	uint64_t va, low = cpu->regs->rax, high = cpu->regs->rdx;
	void *mem;
	int err = insn_address(cpu, insn, 0, 16, &va);

	if (!err)
		err = insn_page(cpu, va, 16, true, &mem);
	if (err)
		return err;
	if (host_cmpxchg16b(mem, &low, &high, cpu->regs->rbx, cpu->regs->rcx)) {
		cpu->regs->rflags |= FLAG_ZF;
	} else {
		cpu->regs->rflags &= ~FLAG_ZF;
		cpu->regs->rax = low;
		cpu->regs->rdx = high;
	}
	return 0;
}

static int insn_popcnt(struct insn_cpu *cpu, const cs_insn *insn)
{
	const cs_x86 *x86 = &insn->detail->x86;
	unsigned int size, src_size;
	uint64_t va, src = 0;
	__u64 *dst, *reg;
	int err = 0;

	if (x86->op_count != 2 || x86->operands[0].type != X86_OP_REG)
		return -ENOSYS;
	dst = insn_reg(cpu, x86->operands[0].reg, &size);
	if (!dst)
		return -ENOSYS;
	if (x86->operands[1].type == X86_OP_REG) {
		reg = insn_reg(cpu, x86->operands[1].reg, &src_size);
		if (!reg)
			return -ENOSYS;
		src = low_bytes(*reg, src_size);
	} else {
		err = insn_address(cpu, insn, 1, 1, &va);
		if (!err)
			err = insn_read(cpu, va, &src, size);
	}
	if (err)
		return err;
	/* A 16-bit result leaves the rest of the register, a 32-bit one clears it. */
	*dst = (size == 2 ? *dst & ~UINT64_C(0xffff) : 0) | (uint64_t)__builtin_popcountll(src);
	cpu->regs->rflags &= ~FLAGS_ARITHMETIC;
	cpu->regs->rflags |= src ? 0 : FLAG_ZF;
	return 0;
}

static int insn_clac_stac(struct insn_cpu *cpu, const cs_insn *insn)
{
	if (cpu->paging.user)
		return insn_raise(cpu, VECTOR_UD);
	if (insn->id == X86_INS_STAC)
		cpu->regs->rflags |= FLAG_AC;
	else
		cpu->regs->rflags &= ~FLAG_AC;
	return 0;
}

/* Linux's BUG() and WARN() are ud2. */
static int insn_ud(struct insn_cpu *cpu, const cs_insn *insn)
{
	(void)insn;
	return insn_raise(cpu, VECTOR_UD);
}

/* clang-format off */
static const struct insn_row {
	unsigned int id; /* capstone's */
	insn_fn *fn;
} rows[] = {
	{X86_INS_CLAC, insn_clac_stac},
	{X86_INS_CMPXCHG16B, insn_cmpxchg16b},
	{X86_INS_EMMS, insn_emms},
	{X86_INS_FILD, insn_fild},
	{X86_INS_FNCLEX, insn_fnclex},
	{X86_INS_FNINIT, insn_fninit},
	{X86_INS_FXRSTOR, insn_fxrstor},
	{X86_INS_FXRSTOR64, insn_fxrstor},
	{X86_INS_FXSAVE, insn_fxsave},
	{X86_INS_FXSAVE64, insn_fxsave},
	{X86_INS_LDMXCSR, insn_ldmxcsr},
	{X86_INS_POPCNT, insn_popcnt},
	{X86_INS_STAC, insn_clac_stac},
	{X86_INS_STMXCSR, insn_stmxcsr},
	{X86_INS_UD0, insn_ud},
	{X86_INS_UD2, insn_ud},
	{X86_INS_UD2B, insn_ud},
	{X86_INS_WAIT, insn_fwait},
	{X86_INS_XRSTOR, insn_xrstor},
	{X86_INS_XRSTOR64, insn_xrstor},
	{X86_INS_XRSTORS, insn_xrstor},
	{X86_INS_XRSTORS64, insn_xrstor},
	{X86_INS_XSAVE, insn_xsave},
	{X86_INS_XSAVE64, insn_xsave},
	{X86_INS_XSAVEC, insn_xsavec},
	{X86_INS_XSAVEC64, insn_xsavec},
	{X86_INS_XSAVEOPT, insn_xsave},
	{X86_INS_XSAVEOPT64, insn_xsave},
	{X86_INS_XSAVES, insn_xsavec},
	{X86_INS_XSAVES64, insn_xsavec},
};
/* clang-format on */

/* --- decoding ------------------------------------------------------------------------------ */

struct insn_decoder *insn_decoder_new(void)
{
	struct insn_decoder *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	if (cs_open(CS_ARCH_X86, CS_MODE_64, &d->handle) != CS_ERR_OK)
		goto err_free;
	cs_option(d->handle, CS_OPT_DETAIL, CS_OPT_ON);
	d->insn = cs_malloc(d->handle);
	if (!d->insn)
		goto err_close;
	return d;
err_close:
	cs_close(&d->handle);
err_free:
	free(d);
	return NULL;
}

void insn_decoder_free(struct insn_decoder *d)
{
	if (!d)
		return;
	cs_free(d->insn, 1);
	cs_close(&d->handle);
	free(d);
}

/* The bytes at rip: fewer when the page behind them is missing. */
static size_t insn_fetch(struct insn_cpu *cpu, uint8_t *bytes)
{
	size_t room = PAGING_SIZE - cpu->regs->rip % PAGING_SIZE;

	if (!insn_read(cpu, cpu->regs->rip, bytes, INSN_MAX))
		return INSN_MAX;
	if (room < INSN_MAX && !insn_read(cpu, cpu->regs->rip, bytes, room))
		return room;
	return 0;
}

void insn_cpu_init(struct insn_cpu *cpu, struct kvm_regs *regs, const struct kvm_sregs *sregs,
		   void *(*ram)(void *arg, uint64_t pa, size_t len), const struct insn_ops *ops,
		   void *arg)
{
	*cpu = (struct insn_cpu){
		.regs = regs,
		.sregs = sregs,
		.paging = {.ram = ram,
			   .arg = arg,
			   .cr0 = sregs->cr0,
			   .cr3 = sregs->cr3,
			   .cr4 = sregs->cr4,
			   .rflags = regs->rflags,
			   .user = sregs->ss.dpl == 3},
		.ops = ops,
		.arg = arg,
	};
}

int insn_execute(struct insn_decoder *d, struct insn_cpu *cpu)
{
	uint8_t bytes[INSN_MAX];
	const uint8_t *code = bytes;
	size_t len = insn_fetch(cpu, bytes);
	uint64_t rip = cpu->regs->rip;

	if (!cpu->sregs->cs.l || !len || !cs_disasm_iter(d->handle, &code, &len, &rip, d->insn))
		return -ENOSYS;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int err;

		if (rows[i].id != d->insn->id)
			continue;
		err = rows[i].fn(cpu, d->insn);
		if (!err)
			cpu->regs->rip += d->insn->size;
		return err;
	}
	return -ENOSYS;
}
