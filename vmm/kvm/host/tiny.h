/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tiny.h - a machine of one vCPU and a few pages, for finding out what KVM does: no devices but
 * KVM's own interrupt controllers where they are asked for, no kernel, some bytes of code that run
 * in 64-bit mode.
 */
#ifndef HVTRACE_VMM_KVM_HOST_TINY_H
#define HVTRACE_VMM_KVM_HOST_TINY_H

#include <linux/kvm.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Its memory, at guest-physical 0 and mapped one to one. */
#define TINY_IDT   0x3000ull
#define TINY_GDT   0x4000ull
#define TINY_STACK 0x6000ull /* it grows down from here */
#define TINY_CODE  0x6000ull
#define TINY_SIZE  0x8000ull
#define TINY_SPAN  0x400000ull /* is mapped: behind its memory a slot may be added */

struct tiny {
	int vm_fd, vcpu_fd;
	uint8_t *memory;
	struct kvm_run *run;
	size_t run_size;
};

/* 0 or -errno; tiny_close() in either case, which may be called twice. */
int tiny_open(struct tiny *t, int kvm_fd, bool irqchip);
void tiny_close(struct tiny *t);
/* Put this code at TINY_CODE and let the vCPU stand before it, interrupts off. 0 or -errno. */
int tiny_enter(struct tiny *t, const void *code, size_t len);
/* Let the guest's handler of an exception be at this address. */
void tiny_gate(struct tiny *t, unsigned int vector, uint64_t handler);
/* Run it to its next exit, of whatever kind: 0 or -errno. */
int tiny_run(struct tiny *t);

#endif
