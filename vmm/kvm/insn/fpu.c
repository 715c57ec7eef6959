// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fpu.c - instructions of the floating-point unit that KVM's emulator refuses in kernel
 * mode: they save, restore and reset its state.
 *
 * State is x87 and SSE. A guest that was given more (XCR0 has further bits) is not helped here.
 * Layouts: Intel SDM vol. 1, 10.5 (FXSAVE) and 13.4 (XSAVE).
 */
#include "vmm/kvm/insn/insn.h"

#include <capstone/capstone.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>

#define CR0_MP	    (UINT64_C(1) << 1)
#define CR0_EM	    (UINT64_C(1) << 2)
#define CR0_TS	    (UINT64_C(1) << 3)
#define CR4_OSFXSR  (UINT64_C(1) << 9)
#define CR4_OSXSAVE (UINT64_C(1) << 18)

#define FCW_INIT      0x37f
#define FSW_ERRORS    0x80ff /* busy, error summary, stack fault, exceptions */
#define FSW_ES	      0x80
#define FSW_C1	      0x200
#define FSW_TOP_SHIFT 11
#define EXPONENT_BIAS 0x3fff
#define SIGN	      0x8000
#define MXCSR_INIT    0x1f80
#define MXCSR_MASK    0xffff

#define STATE_X87 (UINT64_C(1) << 0)
#define STATE_SSE (UINT64_C(1) << 1)
#define STATE_ALL (STATE_X87 | STATE_SSE)
#define COMPACTED (UINT64_C(1) << 63)

struct fxsave {
	uint16_t fcw, fsw;
	uint8_t ftw, reserved0; /* ftw: one bit per register that is not empty */
	uint16_t fop;
	uint64_t fip, fdp; /* without REX.W: 32 bits of offset, then a segment */
	uint32_t mxcsr, mxcsr_mask;
	uint8_t st[8][16];
	uint8_t xmm[16][16];
} __attribute__((packed));

#define FXSAVE_SIZE 512 /* the rest is not touched */

struct xsave_header {
	uint64_t states, compaction;
	uint64_t reserved[6];
};

struct xsave_area {
	struct fxsave image;
	uint8_t reserved[FXSAVE_SIZE - sizeof(struct fxsave)];
	struct xsave_header header;
};

_Static_assert(sizeof(struct fxsave) == 416, "FXSAVE area up to XMM15");
_Static_assert(sizeof(struct xsave_area) == 576, "XSAVE area with its header");

/* --- common -------------------------------------------------------------------------------- */

static int fpu_usable(struct insn_cpu *cpu)
{
	if (cpu->sregs->cr0 & (CR0_EM | CR0_TS))
		return insn_raise(cpu, VECTOR_NM);
	return 0;
}

static int sse_usable(struct insn_cpu *cpu)
{
	if ((cpu->sregs->cr0 & CR0_EM) || !(cpu->sregs->cr4 & CR4_OSFXSR))
		return insn_raise(cpu, VECTOR_UD);
	return cpu->sregs->cr0 & CR0_TS ? insn_raise(cpu, VECTOR_NM) : 0;
}

static bool insn_is_64(const cs_insn *insn)
{
	return insn->detail->x86.rex & 0x08;
}

static void fpu_to_image(const struct kvm_fpu *fpu, bool wide, struct fxsave *image)
{
	const uint64_t offset = wide ? UINT64_MAX : UINT32_MAX;

	image->fcw = fpu->fcw;
	image->fsw = fpu->fsw;
	image->ftw = fpu->ftwx;
	image->reserved0 = 0;
	image->fop = fpu->last_opcode;
	image->fip = fpu->last_ip & offset;
	image->fdp = fpu->last_dp & offset;
	memcpy(image->st, fpu->fpr, sizeof(image->st));
}

static void fpu_from_image(struct kvm_fpu *fpu, bool wide, const struct fxsave *image)
{
	const uint64_t offset = wide ? UINT64_MAX : UINT32_MAX;

	fpu->fcw = image->fcw;
	fpu->fsw = image->fsw;
	fpu->ftwx = image->ftw;
	fpu->last_opcode = image->fop;
	fpu->last_ip = image->fip & offset;
	fpu->last_dp = image->fdp & offset;
	memcpy(fpu->fpr, image->st, sizeof(fpu->fpr));
}

static void fpu_init_x87(struct kvm_fpu *fpu)
{
	fpu->fcw = FCW_INIT;
	fpu->fsw = 0;
	fpu->ftwx = 0;
	fpu->last_opcode = 0;
	fpu->last_ip = fpu->last_dp = 0;
}

/* --- x87 ----------------------------------------------------------------------------------- */

int insn_fwait(struct insn_cpu *cpu, const cs_insn *insn)
{
	struct kvm_fpu fpu;
	int err;

	(void)insn;
	if ((cpu->sregs->cr0 & (CR0_MP | CR0_TS)) == (CR0_MP | CR0_TS))
		return insn_raise(cpu, VECTOR_NM);
	err = cpu->ops->get_fpu(cpu->arg, &fpu);
	if (err)
		return err;
	return fpu.fsw & FSW_ES ? insn_raise(cpu, VECTOR_MF) : 0;
}

int insn_fninit(struct insn_cpu *cpu, const cs_insn *insn)
{
	struct kvm_fpu fpu;
	int err = fpu_usable(cpu);

	(void)insn;
	if (!err)
		err = cpu->ops->get_fpu(cpu->arg, &fpu);
	if (err)
		return err;
	fpu_init_x87(&fpu);
	return cpu->ops->set_fpu(cpu->arg, &fpu);
}

int insn_fnclex(struct insn_cpu *cpu, const cs_insn *insn)
{
	struct kvm_fpu fpu;
	int err = fpu_usable(cpu);

	(void)insn;
	if (!err)
		err = cpu->ops->get_fpu(cpu->arg, &fpu);
	if (err)
		return err;
	fpu.fsw &= (uint16_t)~FSW_ERRORS;
	return cpu->ops->set_fpu(cpu->arg, &fpu);
}

int insn_emms(struct insn_cpu *cpu, const cs_insn *insn)
{
	struct kvm_fpu fpu;
	int err = cpu->sregs->cr0 & CR0_EM ? insn_raise(cpu, VECTOR_UD) : fpu_usable(cpu);

	(void)insn;
	if (!err)
		err = cpu->ops->get_fpu(cpu->arg, &fpu);
	if (err)
		return err;
	if (fpu.fsw & FSW_ES)
		return insn_raise(cpu, VECTOR_MF);
	fpu.ftwx = 0;
	return cpu->ops->set_fpu(cpu->arg, &fpu);
}

/* val in the 80-bit format: 64 bits of fraction with the leading 1, then exponent and sign. */
static void fpu_from_integer(int64_t val, uint8_t st[16])
{
	uint64_t fraction = val < 0 ? -(uint64_t)val : (uint64_t)val;
	int zeros = fraction ? __builtin_clzll(fraction) : 0;
	uint16_t exponent = fraction ? (uint16_t)(EXPONENT_BIAS + 63 - zeros) : 0;

	if (val < 0)
		exponent |= SIGN;
	fraction <<= zeros;
	memset(st, 0, 16);
	memcpy(st, &fraction, sizeof(fraction));
	memcpy(st + sizeof(fraction), &exponent, sizeof(exponent));
}

int insn_fild(struct insn_cpu *cpu, const cs_insn *insn)
{
	const unsigned int size = insn->detail->x86.operands[0].size;
	struct kvm_fpu fpu;
	uint64_t va, raw = 0;
	unsigned int top;
	int err = fpu_usable(cpu);

	if (!err)
		err = insn_address(cpu, insn, 0, 1, &va);
	if (!err && size != 2 && size != 4 && size != 8)
		err = -ENOSYS;
	if (!err)
		err = insn_read(cpu, va, &raw, size);
	if (!err)
		err = cpu->ops->get_fpu(cpu->arg, &fpu);
	if (err)
		return err;
	if (fpu.fsw & FSW_ES)
		return insn_raise(cpu, VECTOR_MF);
	top = ((fpu.fsw >> FSW_TOP_SHIFT) + 7) & 7;
	if (fpu.ftwx & 1 << top)
		return -ENOSYS; /* overflow of the register stack */
	fpu.fsw = (uint16_t)((fpu.fsw & ~(7 << FSW_TOP_SHIFT | FSW_C1)) | top << FSW_TOP_SHIFT);
	fpu.ftwx |= (uint8_t)(1 << top);
	memmove(fpu.fpr[1], fpu.fpr[0], 7 * sizeof(fpu.fpr[0]));
	fpu_from_integer((int64_t)(raw << (64 - size * 8)) >> (64 - size * 8), fpu.fpr[0]);
	return cpu->ops->set_fpu(cpu->arg, &fpu);
}

/* --- mxcsr --------------------------------------------------------------------------------- */

int insn_ldmxcsr(struct insn_cpu *cpu, const cs_insn *insn)
{
	struct kvm_fpu fpu;
	uint32_t mxcsr;
	uint64_t va;
	int err = sse_usable(cpu);

	if (!err)
		err = insn_address(cpu, insn, 0, 1, &va);
	if (!err)
		err = insn_read(cpu, va, &mxcsr, sizeof(mxcsr));
	if (!err && (mxcsr & ~(uint32_t)MXCSR_MASK))
		err = insn_raise_error(cpu, VECTOR_GP, 0);
	if (!err)
		err = cpu->ops->get_fpu(cpu->arg, &fpu);
	if (err)
		return err;
	fpu.mxcsr = mxcsr;
	return cpu->ops->set_fpu(cpu->arg, &fpu);
}

int insn_stmxcsr(struct insn_cpu *cpu, const cs_insn *insn)
{
	struct kvm_fpu fpu;
	uint64_t va;
	int err = sse_usable(cpu);

	if (!err)
		err = insn_address(cpu, insn, 0, 1, &va);
	if (!err)
		err = cpu->ops->get_fpu(cpu->arg, &fpu);
	if (err)
		return err;
	return insn_write(cpu, va, &fpu.mxcsr, sizeof(fpu.mxcsr));
}

/* --- fxsave, fxrstor ----------------------------------------------------------------------- */

int insn_fxsave(struct insn_cpu *cpu, const cs_insn *insn)
{
	struct fxsave image;
	struct kvm_fpu fpu;
	uint64_t va;
	int err = fpu_usable(cpu);

	if (!err)
		err = insn_address(cpu, insn, 0, 16, &va);
	if (!err)
		err = cpu->ops->get_fpu(cpu->arg, &fpu);
	if (err)
		return err;
	fpu_to_image(&fpu, insn_is_64(insn), &image);
	image.mxcsr = fpu.mxcsr;
	image.mxcsr_mask = MXCSR_MASK;
	memcpy(image.xmm, fpu.xmm, sizeof(image.xmm));
	return insn_write(cpu, va, &image, sizeof(image));
}

int insn_fxrstor(struct insn_cpu *cpu, const cs_insn *insn)
{
	struct fxsave image;
	struct kvm_fpu fpu;
	uint64_t va;
	int err = fpu_usable(cpu);

	if (!err)
		err = insn_address(cpu, insn, 0, 16, &va);
	if (!err)
		err = insn_read(cpu, va, &image, sizeof(image));
	if (!err && (image.mxcsr & ~(uint32_t)MXCSR_MASK))
		err = insn_raise_error(cpu, VECTOR_GP, 0);
	if (!err)
		err = cpu->ops->get_fpu(cpu->arg, &fpu);
	if (err)
		return err;
	fpu_from_image(&fpu, insn_is_64(insn), &image);
	fpu.mxcsr = image.mxcsr;
	memcpy(fpu.xmm, image.xmm, sizeof(fpu.xmm));
	return cpu->ops->set_fpu(cpu->arg, &fpu);
}

/* --- xsave, xrstor ------------------------------------------------------------------------- */

/* The states that edx:eax asks for, and the address of the area. */
static int xsave_begin(struct insn_cpu *cpu, const cs_insn *insn, uint64_t *va, uint64_t *states)
{
	uint64_t xcr0;
	int err;

	if (!(cpu->sregs->cr4 & CR4_OSXSAVE))
		return insn_raise(cpu, VECTOR_UD);
	if (cpu->sregs->cr0 & CR0_TS)
		return insn_raise(cpu, VECTOR_NM);
	err = insn_address(cpu, insn, 0, 64, va);
	if (!err)
		err = cpu->ops->get_xcr0(cpu->arg, &xcr0);
	if (err)
		return err;
	if (xcr0 & ~STATE_ALL)
		return -ENOSYS;
	*states = xcr0 & (cpu->regs->rdx << 32 | (uint32_t)cpu->regs->rax);
	return 0;
}

/* Both formats have x87 and SSE state at the same places; they differ in the header. */
static int xsave_write(struct insn_cpu *cpu, const cs_insn *insn, bool compacted)
{
	struct xsave_area area;
	struct kvm_fpu fpu;
	uint64_t va, states;
	int err = xsave_begin(cpu, insn, &va, &states);

	if (!err)
		err = insn_read(cpu, va, &area, sizeof(area));
	if (!err)
		err = cpu->ops->get_fpu(cpu->arg, &fpu);
	if (err)
		return err;
	if (states & STATE_X87)
		fpu_to_image(&fpu, insn_is_64(insn), &area.image);
	if (states & STATE_SSE) {
		area.image.mxcsr = fpu.mxcsr;
		area.image.mxcsr_mask = MXCSR_MASK;
		memcpy(area.image.xmm, fpu.xmm, sizeof(area.image.xmm));
	}
	if (compacted)
		area.header =
			(struct xsave_header){.states = states, .compaction = COMPACTED | states};
	else
		area.header.states |= states;
	return insn_write(cpu, va, &area, sizeof(area));
}

int insn_xsave(struct insn_cpu *cpu, const cs_insn *insn)
{
	return xsave_write(cpu, insn, false);
}

int insn_xsavec(struct insn_cpu *cpu, const cs_insn *insn)
{
	return xsave_write(cpu, insn, true);
}

static bool xsave_header_valid(const struct xsave_header *h)
{
	static const uint64_t zeros[6];

	if (memcmp(h->reserved, zeros, sizeof(zeros)) || (h->states & ~STATE_ALL))
		return false;
	return !h->compaction || ((h->compaction & COMPACTED) && !(h->states & ~h->compaction) &&
				  !(h->compaction & ~(COMPACTED | STATE_ALL)));
}

static void xrstor_x87(struct kvm_fpu *fpu, const struct xsave_area *area, bool wide)
{
	if (area->header.states & STATE_X87) {
		fpu_from_image(fpu, wide, &area->image);
		return;
	}
	fpu_init_x87(fpu);
	memset(fpu->fpr, 0, sizeof(fpu->fpr));
}

static void xrstor_sse(struct kvm_fpu *fpu, const struct xsave_area *area)
{
	bool present = area->header.states & STATE_SSE;

	/* The standard format always has mxcsr, the compacted one only with SSE state. */
	fpu->mxcsr = present || !area->header.compaction ? area->image.mxcsr : MXCSR_INIT;
	if (present)
		memcpy(fpu->xmm, area->image.xmm, sizeof(fpu->xmm));
	else
		memset(fpu->xmm, 0, sizeof(fpu->xmm));
}

/* States that are asked for but not in the area get their initial values. */
static void xrstor_apply(struct kvm_fpu *fpu, const struct xsave_area *area, uint64_t states,
			 bool wide)
{
	if (states & STATE_X87)
		xrstor_x87(fpu, area, wide);
	if (states & STATE_SSE)
		xrstor_sse(fpu, area);
}

int insn_xrstor(struct insn_cpu *cpu, const cs_insn *insn)
{
	struct xsave_area area;
	struct kvm_fpu fpu;
	uint64_t va, states;
	int err = xsave_begin(cpu, insn, &va, &states);

	if (!err)
		err = insn_read(cpu, va, &area, sizeof(area));
	if (err)
		return err;
	if (!xsave_header_valid(&area.header) ||
	    ((states & STATE_SSE) && (area.image.mxcsr & ~(uint32_t)MXCSR_MASK)))
		return insn_raise_error(cpu, VECTOR_GP, 0);
	err = cpu->ops->get_fpu(cpu->arg, &fpu);
	if (err)
		return err;
	xrstor_apply(&fpu, &area, states, insn_is_64(insn));
	return cpu->ops->set_fpu(cpu->arg, &fpu);
}
