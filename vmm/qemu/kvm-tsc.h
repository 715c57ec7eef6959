/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kvm-tsc.h - how the TSCs of another process's KVM guest follow the host's, as the host's kernel
 * tells root: debugfs kvm/PID-FD/vcpuID/tsc-offset, tsc-scaling-ratio and
 * tsc-scaling-ratio-frac-bits (arch/x86/kvm/debugfs.c of Linux 6.1, there since 4.10).
 */
#ifndef HVTRACE_VMM_QEMU_KVM_TSC_H
#define HVTRACE_VMM_QEMU_KVM_TSC_H

#include <stdint.h>
#include <sys/types.h>

#include "vmm/machine.h"

struct kvm_tsc {
	unsigned int n; /* vCPUs; 0: nothing is known, and nothing to be closed */
	int folder;	/* the guest's */
	struct {
		unsigned long id; /* KVM's for it */
		uint64_t ratio;	  /* guest's ticks for 2^frac_bits of the host's */
		unsigned int frac_bits;
		int64_t offset; /* at the beginning */
	} vcpu[MACHINE_MAX_VCPUS];
};

/*
 * Look for the guest that this process runs, with so many vCPUs (1 to MACHINE_MAX_VCPUS). 0, or
 * -errno and t->n is 0: -EACCES no permission, -ENOENT no debugfs or no such guest, -EXDEV the
 * process ids of this host's kernel are others than ours (a container), -ENOTUNIQ the process has
 * several guests, -ERANGE its guest has another number of vCPUs, -EPROTO nonsense.
 */
int kvm_tsc_open(struct kvm_tsc *t, pid_t pid, unsigned int vcpus);
/* The same below any folder that is like debugfs' "kvm"; the folder stays open. */
int kvm_tsc_open_at(struct kvm_tsc *t, int folder, pid_t pid, unsigned int vcpus);
void kvm_tsc_close(struct kvm_tsc *t);

/*
 * A vCPU's TSC when the host's is `host`: 0 and *guest, or -errno. The offset is read anew: the
 * guest may write its TSC; where files may not be opened any more, it is that of the beginning.
 * Right for a vCPU that is not within a nested guest of its own, whose offset would be told
 * instead.
 */
int kvm_tsc_read(const struct kvm_tsc *t, unsigned int vcpu, uint64_t host, uint64_t *guest);

/* How a vCPU's follows the host's, with the offset of now. -EINVAL: nothing is known of it. */
int kvm_tsc_get_line(const struct kvm_tsc *t, unsigned int vcpu, struct machine_tsc *line);

/* The guest's frequency, by the host's; the same unit. */
uint64_t kvm_tsc_frequency(const struct kvm_tsc *t, uint64_t host);

#endif
