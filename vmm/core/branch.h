/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * branch.h - where instructions of 64-bit mode go: which ones may go elsewhere than behind
 * themselves, and where one of those is about to go. (Intel SDM vol. 2.)
 */
#ifndef HVTRACE_VMM_CORE_BRANCH_H
#define HVTRACE_VMM_CORE_BRANCH_H

#include <stddef.h>

#include "vmm/machine.h"

#define BRANCH_INSN_MAX	  15   /* bytes of the longest instruction */
#define BRANCH_BLOCK_MAX  4096 /* bytes that are looked through for the end of a block */
#define BRANCH_STACK_SIZE 16384

/* A vCPU that stands, as far as its next instruction asks for it. */
struct branch_cpu {
	const struct machine_regs *regs;
	/* Copy from its memory by its page tables: 0 or a negative errno. */
	int (*read)(void *arg, uint64_t va, void *buf, size_t len);
	void *arg;
};

enum branch_kind {
	BRANCH_NONE,  /* goes on behind itself, if it raises nothing */
	BRANCH_GOES,  /* where to can be told */
	BRANCH_OTHER, /* where to cannot: system calls, software interrupts, what is none at all */
};

struct branch {
	enum branch_kind kind;
	uint8_t len;
	bool taken;    /* BRANCH_GOES: it does not go on behind itself, */
	bool to_user;  /* but to user mode */
	uint64_t next; /* but here */
	/* BRANCH_GOES: what it leaves in the registers that branches change. */
	uint64_t rsp, rcx, rflags;
};

/* Where a block ends. The stack pointer tells its end from that of an interrupt in between, which
 * executes the same code further down on the same stack. */
struct branch_end {
	uint64_t va;
	bool rsp_known;
	uint64_t rsp; /* there */
};

struct branch_decoder; /* one thread at a time */

struct branch_decoder *branch_decoder_new(void); /* NULL: no memory */
void branch_decoder_free(struct branch_decoder *d);

/* What the instruction at regs->rip is about to do. 0; -EFAULT: it cannot be read. */
int branch_look(struct branch_decoder *d, const struct branch_cpu *cpu, struct branch *b);
/*
 * The first instruction at regs->rip or behind it that is one of the other kinds. 0; -EFAULT: there
 * is none that can be read; -E2BIG: none within BRANCH_BLOCK_MAX.
 */
int branch_block_end(struct branch_decoder *d, const struct branch_cpu *cpu,
		     struct branch_end *end);

/* Whether a stack pointer is one of a call's, and of what it has called, that began with it at sp.
 */
static inline bool branch_is_within(uint64_t rsp, uint64_t sp)
{
	return rsp <= sp + sizeof(uint64_t) && sp - rsp + sizeof(uint64_t) <= BRANCH_STACK_SIZE;
}

#endif
