/* SPDX-License-Identifier: GPL-2.0-or-later */
/* mptable.h - the bytes of an MP configuration table. */
#ifndef HVTRACE_VMM_KVM_MPTABLE_H
#define HVTRACE_VMM_KVM_MPTABLE_H

#include <stddef.h>
#include <stdint.h>

struct mptable_config {
	uint32_t pa; /* where the guest will find it; 16-byte aligned */
	unsigned int cpus;
	uint32_t lapic, ioapic; /* addresses of the interrupt controllers */
};

/* Room for that of MACHINE_MAX_VCPUS. */
#define MPTABLE_MAX 2048

/* Bytes written (the floating pointer first), or -ENOSPC. */
int mptable_build(void *buf, size_t size, const struct mptable_config *cfg);

#endif
