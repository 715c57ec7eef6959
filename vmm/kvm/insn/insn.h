/* SPDX-License-Identifier: GPL-2.0-or-later */
/* insn.h - single instructions of 64-bit mode, carried out on registers and memory handed in. */
#ifndef HVTRACE_VMM_KVM_INSN_INSN_H
#define HVTRACE_VMM_KVM_INSN_INSN_H

#include <errno.h>
#include <linux/kvm.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vmm/kvm/insn/paging.h"

#define INSN_MAX 15 /* bytes of the longest instruction */

/* How to reach what is not in struct insn_cpu: 0 or a negative errno. */
struct insn_ops {
	int (*get_fpu)(void *arg, struct kvm_fpu *fpu);
	int (*set_fpu)(void *arg, const struct kvm_fpu *fpu);
	int (*get_xcr0)(void *arg, uint64_t *xcr0);
};

/* An exception that the instruction raised. */
struct insn_fault {
	uint8_t vector;
	bool has_error;
	uint32_t error;
	uint64_t address; /* page faults: for cr2 */
};

struct insn_cpu {
	struct kvm_regs *regs;
	const struct kvm_sregs *sregs;
	struct paging paging; /* built from sregs and regs by insn_cpu_init() */
	const struct insn_ops *ops;
	void *arg; /* for ops */
	struct insn_fault fault;
};

struct insn_decoder; /* one thread at a time */

struct insn_decoder *insn_decoder_new(void);
void insn_decoder_free(struct insn_decoder *d);

void insn_cpu_init(struct insn_cpu *cpu, struct kvm_regs *regs, const struct kvm_sregs *sregs,
		   void *(*ram)(void *arg, uint64_t pa, size_t len), const struct insn_ops *ops,
		   void *arg);

/*
 * Carry out the instruction at regs->rip. 0: done, registers and memory are as it leaves them,
 * rip is behind it. -EFAULT: it raised cpu->fault, nothing else has changed. -ENOSYS: not one that
 * is known here; anything else: the host failed.
 */
int insn_execute(struct insn_decoder *d, struct insn_cpu *cpu);

/* --- for the handlers (insn.c, fpu.c), by operand.c ---------------------------------------- */

enum {
	VECTOR_UD = 6,
	VECTOR_NM = 7,
	VECTOR_SS = 12,
	VECTOR_GP = 13,
	VECTOR_PF = 14,
	VECTOR_MF = 16,
};

struct cs_insn;

/* Record an exception: -EFAULT. A handler that returns it must not have changed anything. */
static inline int insn_raise(struct insn_cpu *cpu, uint8_t vector)
{
	cpu->fault = (struct insn_fault){.vector = vector};
	return -EFAULT;
}

static inline int insn_raise_error(struct insn_cpu *cpu, uint8_t vector, uint32_t error)
{
	cpu->fault = (struct insn_fault){.vector = vector, .has_error = true, .error = error};
	return -EFAULT;
}

/* The 64-bit register that capstone's reg is or is part of, and reg's size; NULL for others. */
__u64 *insn_reg(struct insn_cpu *cpu, unsigned int reg, unsigned int *size);
uint64_t insn_low_bytes(uint64_t val, unsigned int size);
/* Linear address of operand op, which must be len bytes of memory at a multiple of align. */
int insn_address(struct insn_cpu *cpu, const struct cs_insn *insn, unsigned int op,
		 unsigned int align, uint64_t *va);
/* Host address of bytes within one page. */
int insn_page(struct insn_cpu *cpu, uint64_t va, size_t len, bool write, void **host);
int insn_read(struct insn_cpu *cpu, uint64_t va, void *buf, size_t len);
int insn_write(struct insn_cpu *cpu, uint64_t va, const void *buf, size_t len);

typedef int insn_fn(struct insn_cpu *cpu, const struct cs_insn *insn);

insn_fn insn_fwait, insn_fninit, insn_fnclex, insn_emms, insn_fild, insn_ldmxcsr, insn_stmxcsr;
insn_fn insn_fxsave, insn_fxrstor, insn_xsave, insn_xsavec, insn_xrstor;

#endif
