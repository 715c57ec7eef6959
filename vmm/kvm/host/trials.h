/* SPDX-License-Identifier: GPL-2.0-or-later */
/* trials.h - what machine_try_kvm() tries: one row for each thing. */
#ifndef HVTRACE_VMM_KVM_HOST_TRIALS_H
#define HVTRACE_VMM_KVM_HOST_TRIALS_H

#include "vmm/kvm/host/tiny.h"
#include "vmm/machine.h"

struct trial {
	const char *name;
	/*
	 * With a machine that is new, and text to say something in. 0, 1: KVM does it otherwise
	 * than it has to be, or -errno.
	 */
	int (*run)(struct tiny *t, char *text, size_t len);
	bool irqchip; /* the machine has KVM's */
};

#define TRIAL_PORT 0x11 /* of the out that ends a piece of code */

/* trials-run.c: general registers after an exit, or an error of the ioctl's. */
int trial_regs(struct tiny *t, struct kvm_regs *regs);
/* Run to the out, whose exit it must be, and get the registers: 0, 1, -errno, as above. */
int trial_run(struct tiny *t, struct kvm_regs *regs, char *text, size_t len);
/* Text and 1 for an exit that is none of those expected. */
int trial_odd_exit(const struct tiny *t, char *text, size_t len);

/* trials-debug.c */
int trial_int3(struct tiny *t, char *text, size_t len);
int trial_guest_int3(struct tiny *t, char *text, size_t len);
int trial_int3_and_irq(struct tiny *t, char *text, size_t len);
int trial_hw_breakpoint(struct tiny *t, char *text, size_t len);
int trial_step(struct tiny *t, char *text, size_t len);
int trial_step_elsewhere(struct tiny *t, char *text, size_t len);

#endif
