// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * syscall-fix.c - `syscall` on hosts that interpret guest kernel mode.
 *
 * Such a host takes user mode's `syscall` to the address in LSTAR with rcx and r11 set, but leaves
 * it at CPL 3, so that it faults on its first instruction. The fault arrives at the guest's page
 * fault entry, where a trap of ours recognises it (the address that faulted is LSTAR, the code
 * segment the user's) and finishes the system call instead, as AMD APM vol. 3 and Intel SDM
 * vol. 2 define SYSCALL.
 *
 * Where the entry is, the guest says itself: LSTAR is written after the IDT has its page fault
 * gate (Linux: cpu_init() after idt_setup_early_pf()), so the write is the moment to look.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "vmm/kvm/kvm.h"
#include "vmm/kvm/state/state.h"

#define MSR_STAR  0xc0000081
#define MSR_LSTAR 0xc0000082
#define MSR_FMASK 0xc0000084

#define VECTOR_PF    14
#define GATE_SIZE    16
#define GATE_PRESENT 0x80

#define CR4_LA57 (1u << 12)

#define RFLAGS_ONE (1u << 1) /* always set */
#define RFLAGS_RF  (1u << 16)

struct syscall_fix {
	struct kvm_machine *m;
	_Atomic bool armed;
	struct kvm_own_trap trap;
	struct site { /* where it is; size 0: nowhere */
		uint64_t va, pa, size;
	} site;
};

/* What the CPU has pushed when a page fault from user mode arrives. */
struct fault_frame {
	uint64_t error, rip, cs, rflags, rsp, ss;
};

struct syscall_msrs {
	uint64_t star, lstar, fmask;
};

/* --- the fix ------------------------------------------------------------------------------- */

/* STAR gives a flat code segment and, right behind it, a flat stack segment. */
static void set_kernel_segments(struct kvm_sregs *sregs, uint64_t star)
{
	const struct kvm_segment code = {.limit = UINT32_MAX,
					 .selector = star >> 32 & 0xfffc,
					 .type = 11,
					 .present = 1,
					 .s = 1,
					 .l = 1,
					 .g = 1};
	const struct kvm_segment stack = {.limit = UINT32_MAX,
					  .selector = (uint16_t)(code.selector + 8),
					  .type = 3,
					  .present = 1,
					  .s = 1,
					  .db = 1,
					  .g = 1};

	sregs->cs = code;
	sregs->ss = stack;
}

static bool read_msrs(struct kvm_vcpu *v, struct syscall_msrs *msrs)
{
	return !kvm_vcpu_get_msr(v, MSR_LSTAR, &msrs->lstar) &&
	       !kvm_vcpu_get_msr(v, MSR_STAR, &msrs->star) &&
	       !kvm_vcpu_get_msr(v, MSR_FMASK, &msrs->fmask);
}

/* Only a real `syscall` becomes one: not a jump of user mode to the kernel's address. */
static bool behind_syscall(struct kvm_vcpu *v, uint64_t rcx)
{
	uint8_t insn[2];

	return !kvm_virt_read(v, rcx - sizeof(insn), insn, sizeof(insn)) && insn[0] == 0x0f &&
	       insn[1] == 0x05;
}

static void finish_syscall(struct kvm_vcpu *v, const struct fault_frame *f,
			   const struct syscall_msrs *msrs)
{
	struct kvm_regs *regs = kvm_vcpu_regs(v);
	struct kvm_sregs sregs;

	if (kvm_vcpu_get_sregs(v, &sregs))
		return;
	set_kernel_segments(&sregs, msrs->star);
	if (kvm_vcpu_set_sregs(v, &sregs))
		return;
	regs->rip = msrs->lstar;
	regs->rsp = f->rsp;
	regs->rflags = (regs->r11 & ~msrs->fmask & ~(uint64_t)RFLAGS_RF) | RFLAGS_ONE;
	kvm_vcpu_regs_changed(v);
}

/* At the guest's page fault entry. A fault that is none of ours goes on as if nothing were. */
static void page_fault_hit(struct kvm_vcpu *v, void *arg)
{
	struct kvm_regs *regs = kvm_vcpu_regs(v);
	struct syscall_msrs msrs;
	struct fault_frame f;

	(void)arg;
	if (kvm_virt_read(v, regs->rsp, &f, sizeof(f)) || (f.cs & 3) != 3)
		return;
	if (!read_msrs(v, &msrs) || f.rip != msrs.lstar || !behind_syscall(v, regs->rcx))
		return;
	finish_syscall(v, &f, &msrs);
}

/* --- finding the entry --------------------------------------------------------------------- */

static int page_fault_entry(struct kvm_vcpu *v, const struct kvm_sregs *sregs, uint64_t *entry)
{
	const unsigned int at = VECTOR_PF * GATE_SIZE;
	uint8_t gate[GATE_SIZE];
	uint16_t low, middle;
	uint32_t high;

	if (sregs->idt.limit < at + GATE_SIZE - 1 ||
	    kvm_virt_read(v, sregs->idt.base + at, gate, sizeof(gate)))
		return -EFAULT;
	if (!(gate[5] & GATE_PRESENT))
		return -ENOENT;
	memcpy(&low, gate, sizeof(low));
	memcpy(&middle, gate + 6, sizeof(middle));
	memcpy(&high, gate + 8, sizeof(high));
	*entry = (uint64_t)high << 32 | (uint32_t)middle << 16 | low;
	return 0;
}

/*
 * The entry begins with the place of a clac, three bytes of NOP as long as the guest uses no SMAP
 * (arch/x86/include/asm/smap.h), behind an endbr64 in kernels with IBT.
 */
static int find_site(struct kvm_vcpu *v, uint64_t *va)
{
	static const uint8_t endbr[] = {0xf3, 0x0f, 0x1e, 0xfa};
	static const uint8_t fillers[][3] = {
		{0x90, 0x90, 0x90}, {0x0f, 0x1f, 0x00}, {0x0f, 0x01, 0xca}};
	uint8_t insn[sizeof(endbr) + sizeof(fillers[0])];
	const uint8_t *site = insn;

	if (kvm_virt_read(v, *va, insn, sizeof(insn)))
		return -EFAULT;
	if (!memcmp(insn, endbr, sizeof(endbr))) {
		site += sizeof(endbr);
		*va += sizeof(endbr);
	}
	for (size_t i = 0; i < sizeof(fillers) / sizeof(fillers[0]); i++) {
		if (!memcmp(site, fillers[i], sizeof(fillers[i])))
			return (int)sizeof(fillers[i]);
	}
	return -ENOENT;
}

static int place(struct syscall_fix *f, const struct site *site)
{
	int err = kvm_traps_set_own(f->m, site->va, site->pa, (uint8_t)site->size, &f->trap);

	if (!err)
		f->site = *site;
	return err;
}

static int arm(struct syscall_fix *f, struct kvm_vcpu *v)
{
	struct kvm_sregs sregs;
	uint64_t va, pa;
	int size, err = kvm_vcpu_get_sregs(v, &sregs);

	if (!err)
		err = page_fault_entry(v, &sregs, &va);
	if (err)
		return err;
	size = find_site(v, &va);
	if (size < 0)
		return size;
	err = machine_walk(&f->m->base, sregs.cr3, sregs.cr4 & CR4_LA57 ? 5 : 4, va, &pa, NULL);
	if (err)
		return err;
	return place(f, &(struct site){.va = va, .pa = pa, .size = (uint64_t)size});
}

void syscall_fix_wrmsr(struct syscall_fix *f, struct kvm_vcpu *v)
{
	int err;

	if (v->run->msr.index != MSR_LSTAR || atomic_exchange(&f->armed, true))
		return;
	err = arm(f, v);
	if (err)
		machine_message(
			&f->m->base, MACHINE_MSG_WARN,
			"this host's fault with `syscall` cannot be cured in this guest (%s): expect no user space",
			strerror(-err));
}

/* --- life ---------------------------------------------------------------------------------- */

struct syscall_fix *syscall_fix_new(struct kvm_machine *m)
{
	struct syscall_fix *f = calloc(1, sizeof(*f));

	if (f) {
		f->m = m;
		f->trap = (struct kvm_own_trap){.fn = page_fault_hit, .arg = f};
	}
	return f;
}

void syscall_fix_free(struct syscall_fix *f)
{
	free(f);
}

void syscall_fix_save(struct syscall_fix *f, struct state_sections *to)
{
	if (f->armed)
		state_put(to, STATE_SYSCALL_FIX, 0, &f->site, sizeof(f->site));
}

void syscall_fix_forget(struct syscall_fix *f)
{
	f->site = (struct site){0};
	f->armed = false;
}

int syscall_fix_restore(struct syscall_fix *f, const struct state_file *from)
{
	size_t len = 0;
	const struct site *site = state_get(from, STATE_SYSCALL_FIX, 0, &len);

	if (!site)
		return 0;
	if (len != sizeof(*site) || site->size > UINT8_MAX)
		return -EINVAL;
	f->armed = true;
	return site->size ? place(f, site) : 0;
}
