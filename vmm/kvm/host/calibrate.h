/* SPDX-License-Identifier: GPL-2.0-or-later */
/* calibrate.h - what kind of host this is, and how fast. */
#ifndef HVTRACE_VMM_KVM_HOST_CALIBRATE_H
#define HVTRACE_VMM_KVM_HOST_CALIBRATE_H

#include <stdbool.h>

/* What one second of interpreted or real kernel mode told. */
struct kvm_calibration {
	bool emulated;	      /* the host interprets guest kernel mode */
	double insns_per_sec; /* CPL 0 instructions */
};

/* In a machine of its own that lives briefly. */
int kvm_calibrate(int kvm_fd, struct kvm_calibration *cal);

#endif
