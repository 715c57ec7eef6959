// SPDX-License-Identifier: GPL-2.0-or-later
/* regs.c - the registers of a vCPU that has left the guest, and exceptions put into it. */
#include "vmm/kvm/local.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>

#define MSR_KERNEL_GS_BASE 0xc0000102

struct kvm_regs *kvm_vcpu_regs(struct kvm_vcpu *v)
{
	return &v->run->s.regs.regs;
}

void kvm_vcpu_regs_changed(struct kvm_vcpu *v)
{
	v->run->kvm_dirty_regs |= KVM_SYNC_X86_REGS;
}

/*
 * Whoever needs them for one exit will need them for the next: let KVM deliver them with the
 * exits then, which takes much less time than the ioctl.
 */
int kvm_vcpu_get_sregs(struct kvm_vcpu *v, struct kvm_sregs *sregs)
{
	if (v->sregs_synced) {
		*sregs = v->run->s.regs.sregs;
		return 0;
	}
	if (v->handling && v->m->sync_sregs)
		v->run->kvm_valid_regs |= KVM_SYNC_X86_SREGS;
	return ioctl(v->fd, KVM_GET_SREGS, sregs) ? -errno : 0;
}

int kvm_vcpu_set_sregs(struct kvm_vcpu *v, const struct kvm_sregs *sregs)
{
	struct kvm_sregs set = *sregs;

	v->sregs_synced = false;
	return ioctl(v->fd, KVM_SET_SREGS, &set) ? -errno : 0;
}

/* Room for the one entry behind struct kvm_msrs. */
union one_msr {
	struct kvm_msrs msrs;
	uint8_t bytes[sizeof(struct kvm_msrs) + sizeof(struct kvm_msr_entry)];
};

int kvm_vcpu_get_msr(struct kvm_vcpu *v, uint32_t msr, uint64_t *val)
{
	union one_msr io = {0};
	int n;

	io.msrs.nmsrs = 1;
	io.msrs.entries[0].index = msr;
	n = ioctl(v->fd, KVM_GET_MSRS, &io);
	if (n != 1)
		return n < 0 ? -errno : -ENOENT;
	*val = io.msrs.entries[0].data;
	return 0;
}

int kvm_vcpu_set_msr(struct kvm_vcpu *v, uint32_t msr, uint64_t val)
{
	union one_msr io = {0};
	int n;

	io.msrs.nmsrs = 1;
	io.msrs.entries[0].index = msr;
	io.msrs.entries[0].data = val;
	n = ioctl(v->fd, KVM_SET_MSRS, &io);
	if (n != 1)
		return n < 0 ? -errno : -EINVAL;
	return 0;
}

int kvm_vcpu_inject(struct kvm_vcpu *v, uint8_t nr, bool has_error, uint32_t error)
{
	struct kvm_vcpu_events events;

	if (ioctl(v->fd, KVM_GET_VCPU_EVENTS, &events))
		return -errno;
	events.exception.injected = 1;
	events.exception.nr = nr;
	events.exception.has_error_code = has_error;
	events.exception.error_code = error;
	return ioctl(v->fd, KVM_SET_VCPU_EVENTS, &events) ? -errno : 0;
}

/* The registers of machine.h are KVM's, in the same order. */
_Static_assert(sizeof(struct machine_regs) == sizeof(struct kvm_regs), "struct kvm_regs");
_Static_assert(offsetof(struct machine_regs, rip) == offsetof(struct kvm_regs, rip), "rip");
_Static_assert(offsetof(struct machine_regs, r8) == offsetof(struct kvm_regs, r8), "r8");
_Static_assert(offsetof(struct machine_regs, rsp) == offsetof(struct kvm_regs, rsp), "rsp");

int kvm_get_regs(struct machine *base, unsigned int vcpu, struct machine_regs *regs)
{
	struct kvm_machine *m = kvm_machine(base);

	if (vcpu >= m->nvcpus)
		return -EINVAL;
	memcpy(regs, kvm_vcpu_regs(&m->vcpu[vcpu]), sizeof(*regs));
	return 0;
}

int kvm_set_regs(struct machine *base, unsigned int vcpu, const struct machine_regs *regs)
{
	struct kvm_machine *m = kvm_machine(base);

	if (vcpu >= m->nvcpus)
		return -EINVAL;
	memcpy(kvm_vcpu_regs(&m->vcpu[vcpu]), regs, sizeof(*regs));
	kvm_vcpu_regs_changed(&m->vcpu[vcpu]);
	return 0;
}

int kvm_get_sregs(struct machine *base, unsigned int vcpu, struct machine_sregs *sregs)
{
	struct kvm_machine *m = kvm_machine(base);
	struct kvm_sregs s;
	int rc;

	if (vcpu >= m->nvcpus)
		return -EINVAL;
	rc = kvm_vcpu_get_sregs(&m->vcpu[vcpu], &s);
	if (!rc)
		rc = kvm_vcpu_get_msr(&m->vcpu[vcpu], MSR_KERNEL_GS_BASE, &sregs->kernel_gs_base);
	if (rc)
		return rc;
	sregs->cr0 = s.cr0;
	sregs->cr2 = s.cr2;
	sregs->cr3 = s.cr3;
	sregs->cr4 = s.cr4;
	sregs->efer = s.efer;
	sregs->fs_base = s.fs.base;
	sregs->gs_base = s.gs.base;
	sregs->idt_base = s.idt.base;
	sregs->gdt_base = s.gdt.base;
	sregs->idt_limit = s.idt.limit;
	sregs->gdt_limit = s.gdt.limit;
	sregs->cs = s.cs.selector;
	sregs->ss = s.ss.selector;
	sregs->cpl = s.ss.dpl; /* Intel SDM vol. 3, 25.3.1.5: CPL is the DPL of SS */
	return 0;
}
