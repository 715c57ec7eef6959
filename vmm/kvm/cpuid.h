/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cpuid.h - turns what the host can give into what one vCPU says. */
#ifndef HVTRACE_VMM_KVM_CPUID_H
#define HVTRACE_VMM_KVM_CPUID_H

#include <linux/kvm.h>
#include <stdbool.h>

struct cpuid_config {
	unsigned int index; /* of the vCPU: its APIC id */
	unsigned int cpus;
	bool emulated;	   /* the host interprets kernel mode: hide what it cannot interpret */
	bool tsc_deadline; /* the in-kernel local APIC has the deadline timer */
};

/*
 * Change the entries of `cpuid` (as KVM_GET_SUPPORTED_CPUID gave them) in place. There is room for
 * CPUID_ADDED more.
 */
#define CPUID_ADDED 2

void cpuid_prepare(struct kvm_cpuid2 *cpuid, const struct cpuid_config *cfg);

#endif
