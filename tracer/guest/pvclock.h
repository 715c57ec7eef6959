/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pvclock.h - how a guest of KVM turns its TSC into the hypervisor's time, by what both have agreed
 * upon: Documentation/virt/kvm/x86/msr.rst of Linux 6.1, MSR_KVM_SYSTEM_TIME_NEW.
 */
#ifndef HVTRACE_TRACER_GUEST_PVCLOCK_H
#define HVTRACE_TRACER_GUEST_PVCLOCK_H

#include <stdbool.h>
#include <stdint.h>

struct guest_kernel;
struct guest_clock;

/* As it was looked at last. The time stands while QEMU has stopped the guest, the TSC does not. */
struct pvclock_mapping {
	bool known;
	uint64_t since;		  /* TSC from which on it holds */
	uint64_t offset, earlier; /* ns, from then on and before */
	uint32_t mul, shift;
};

/*
 * From a vCPU's TSC to nanoseconds of its pvclock, for now and for records that were made before
 * the hypervisor changed it the last time. False: the guest has none, or keeps changing it.
 */
bool pvclock_get(struct guest_kernel *g, unsigned int vcpu, struct guest_clock *c);

/* The same as sched_clock(), if the kernel goes by it there (arch/x86/kernel/kvmclock.c). */
bool pvclock_get_sched(struct guest_kernel *g, unsigned int vcpu, struct guest_clock *c);

#endif
