// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * insn.c - carries out single instructions that KVM's emulator refuses: decoding by capstone, and
 * those of the integer unit.
 *
 * What the instructions do is in Intel SDM vol. 2. Another one is a row in rows[] and a handler.
 */
#include "vmm/kvm/insn/insn.h"

#include <capstone/capstone.h>
#include <errno.h>
#include <stdlib.h>

#define FLAG_CF		 (UINT64_C(1) << 0)
#define FLAG_PF		 (UINT64_C(1) << 2)
#define FLAG_AF		 (UINT64_C(1) << 4)
#define FLAG_ZF		 (UINT64_C(1) << 6)
#define FLAG_SF		 (UINT64_C(1) << 7)
#define FLAG_OF		 (UINT64_C(1) << 11)
#define FLAG_AC		 (UINT64_C(1) << 18)
#define FLAGS_ARITHMETIC (FLAG_CF | FLAG_PF | FLAG_AF | FLAG_ZF | FLAG_SF | FLAG_OF)

struct insn_decoder {
	csh handle;
	cs_insn *insn;
};

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
		src = insn_low_bytes(*reg, src_size);
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
