// SPDX-License-Identifier: GPL-2.0-or-later
/* assist.c - lets insn.c finish what KVM's emulator has refused on a vCPU. */
#include <errno.h>
#include <sys/ioctl.h>

#include "vmm/kvm/insn/insn.h"
#include "vmm/kvm/kvm.h"

static void *assist_ram(void *arg, uint64_t pa, size_t len)
{
	struct kvm_vcpu *v = arg;

	return kvm_host_ptr(v->m, pa, len);
}

static int assist_get_fpu(void *arg, struct kvm_fpu *fpu)
{
	struct kvm_vcpu *v = arg;

	return ioctl(v->fd, KVM_GET_FPU, fpu) ? -errno : 0;
}

static int assist_set_fpu(void *arg, const struct kvm_fpu *fpu)
{
	struct kvm_vcpu *v = arg;
	struct kvm_fpu set = *fpu;

	return ioctl(v->fd, KVM_SET_FPU, &set) ? -errno : 0;
}

static int assist_get_xcr0(void *arg, uint64_t *xcr0)
{
	struct kvm_vcpu *v = arg;
	struct kvm_xcrs xcrs;

	if (ioctl(v->fd, KVM_GET_XCRS, &xcrs))
		return -errno;
	for (uint32_t i = 0; i < xcrs.nr_xcrs && i < KVM_MAX_XCRS; i++) {
		if (xcrs.xcrs[i].xcr == 0) {
			*xcr0 = xcrs.xcrs[i].value;
			return 0;
		}
	}
	return -ENOENT;
}

static const struct insn_ops assist_ops = {
	.get_fpu = assist_get_fpu,
	.set_fpu = assist_set_fpu,
	.get_xcr0 = assist_get_xcr0,
};

static bool assist_inject(struct kvm_vcpu *v, struct kvm_sregs *sregs, const struct insn_fault *f)
{
	if (f->vector == VECTOR_PF) {
		sregs->cr2 = f->address;
		if (kvm_vcpu_set_sregs(v, sregs))
			return false;
	}
	return !kvm_vcpu_inject(v, f->vector, f->has_error, f->error);
}

bool kvm_assist(struct kvm_vcpu *v)
{
	struct insn_decoder *d = insn_decoder_new();
	struct kvm_sregs sregs;
	struct insn_cpu cpu;
	bool done = false;
	int err;

	if (!d || kvm_vcpu_get_sregs(v, &sregs))
		goto out;
	insn_cpu_init(&cpu, kvm_vcpu_regs(v), &sregs, assist_ram, &assist_ops, v);
	err = insn_execute(d, &cpu);
	if (err == -EFAULT) {
		done = assist_inject(v, &sregs, &cpu.fault);
	} else if (!err) {
		kvm_vcpu_regs_changed(v);
		done = true;
	}
out:
	insn_decoder_free(d);
	return done;
}
