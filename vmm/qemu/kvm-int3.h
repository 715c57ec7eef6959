/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kvm-int3.h - whether KVM of this host gives a guest of QEMU its own int3 back for sure. */
#ifndef HVTRACE_VMM_QEMU_KVM_INT3_H
#define HVTRACE_VMM_QEMU_KVM_INT3_H

#include <stdbool.h>

/*
 * On AMD processors without nrips, which save no address of the next instruction at an exit, KVM
 * drops an int3 that QEMU gives back if an interrupt waits: kvm_check_and_inject_events() of
 * arch/x86/kvm/x86.c with svm_inject_exception() of svm/svm.c, Linux 6.1. docs/kvm-hosts.md.
 */
bool kvm_loses_int3(void);
/* The same, where that parameter of kvm_amd is in the file at path. */
bool kvm_loses_int3_at(const char *path);

#endif
