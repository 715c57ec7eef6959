// SPDX-License-Identifier: GPL-2.0-or-later
/* tsc.c - what a vCPU's TSC is, told from the host's where that can be done. */
#include "vmm/kvm/local.h"

#include <errno.h>
#include <sys/ioctl.h>
#include <x86intrin.h>

#define MSR_IA32_TSC 0x10

/* Guest TSC minus host TSC. TSC scaling is not in use. */
static int tsc_offset_read(struct kvm_vcpu *v, uint64_t *offset)
{
	struct kvm_device_attr attr = {
		.group = KVM_VCPU_TSC_CTRL,
		.attr = KVM_VCPU_TSC_OFFSET,
		.addr = (uintptr_t)offset,
	};
	uint64_t before, guest = 0, after;
	int rc;

	if (!ioctl(v->fd, KVM_GET_DEVICE_ATTR, &attr))
		return 0;
	/* Before Linux 5.16: from a reading in the middle of two of our own. */
	before = __rdtsc();
	rc = kvm_vcpu_get_msr(v, MSR_IA32_TSC, &guest);
	after = __rdtsc();
	*offset = guest - (before + (after - before) / 2);
	return rc;
}

/*
 * On a host whose TSC is unstable KVM lets the guest's TSC stand still while the vCPU is not
 * loaded, so each ioctl that loads it moves the offset (kvm_arch_vcpu_load() in
 * arch/x86/kvm/x86.c). The first of them has nothing yet to go on from.
 */
int kvm_vcpu_tsc_init(struct kvm_vcpu *v)
{
	struct kvm_device_attr attr = {
		.group = KVM_VCPU_TSC_CTRL,
		.attr = KVM_VCPU_TSC_OFFSET,
	};
	uint64_t again = 0;
	int rc = tsc_offset_read(v, &again);

	if (!rc)
		rc = tsc_offset_read(v, &v->tsc_offset);
	if (!rc)
		rc = tsc_offset_read(v, &again);
	v->tsc_stops = again != v->tsc_offset && !ioctl(v->fd, KVM_HAS_DEVICE_ATTR, &attr);
	return rc;
}

int kvm_vcpu_tsc_set(struct kvm_vcpu *v, uint64_t guest, uint64_t host_tsc)
{
	uint64_t offset = guest - host_tsc;
	const struct kvm_device_attr attr = {
		.group = KVM_VCPU_TSC_CTRL,
		.attr = KVM_VCPU_TSC_OFFSET,
		.addr = (uintptr_t)&offset,
	};
	int rc = 0;

	if (v->tsc_stops || ioctl(v->fd, KVM_SET_DEVICE_ATTR, &attr))
		rc = kvm_vcpu_set_msr(v, MSR_IA32_TSC, __rdtsc() + offset);
	return rc ? rc : kvm_vcpu_tsc_init(v);
}

uint64_t kvm_vcpu_tsc(struct kvm_vcpu *v, uint64_t host_tsc)
{
	uint64_t guest = 0;

	if (v->tsc_stops && !kvm_vcpu_get_msr(v, MSR_IA32_TSC, &guest))
		return guest;
	return host_tsc + v->tsc_offset;
}

int kvm_get_tsc_line(struct machine *base, unsigned int vcpu, struct machine_tsc *line)
{
	struct kvm_machine *m = kvm_machine(base);

	if (vcpu >= m->nvcpus)
		return -EINVAL;
	if (m->vcpu[vcpu].tsc_stops)
		return -EOPNOTSUPP;
	*line = (struct machine_tsc){.ratio = 1, .offset = m->vcpu[vcpu].tsc_offset};
	return 0;
}

uint64_t kvm_get_tsc(struct machine *base, unsigned int vcpu)
{
	return kvm_vcpu_tsc(&kvm_machine(base)->vcpu[vcpu], __rdtsc());
}
