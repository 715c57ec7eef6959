// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * frame.c - how a borrowed vCPU is sent to a function: with a frame below its task's stack,
 * from which the end of the kernel's own interrupt return loads its registers should nobody trap
 * the landing.
 */
#include "tracer/borrow/internal.h"

#include <errno.h>
#include <string.h>

#define STACK_SPACE 128 /* between what the task has on its stack and the frame */

/*
 * restore_regs_and_return_to_kernel: the end of an interrupt's return, which loads all registers
 * from a struct pt_regs (arch/x86/entry/entry_64.S, POP_REGS and what follows).
 */
static const char restore_name[] = "restore_regs_and_return_to_kernel";
static const uint8_t restore_code[] = {
	0x41, 0x5f, 0x41, 0x5e, 0x41, 0x5d, 0x41, 0x5c, /* pop %r15, %r14, %r13, %r12 */
	0x5d, 0x5b,					/* pop %rbp, %rbx */
	0x41, 0x5b, 0x41, 0x5a, 0x41, 0x59, 0x41, 0x58, /* pop %r11, %r10, %r9, %r8 */
	0x58, 0x59, 0x5a, 0x5e, 0x5f,			/* pop %rax, %rcx, %rdx, %rsi, %rdi */
	0x48, 0x83, 0xc4, 0x08,				/* add $8, %rsp */
};

/* What lies on the stack of a borrowed task, from its stack pointer in the called function on. */
struct frame {
	uint64_t landing; /* where the function returns to */
	uint64_t restore; /* where the landing returns to, when nobody traps it */
	struct {	  /* struct pt_regs */
		uint64_t r15, r14, r13, r12, rbp, rbx, r11, r10, r9, r8, rax, rcx, rdx, rsi, rdi;
		uint64_t orig_rax, rip, cs, eflags, rsp, ss;
	} regs;
};

int borrow_find_restore(struct borrow *b, const char **what)
{
	uint8_t code[sizeof(restore_code)];
	int ret;

	*what = restore_name;
	b->restore = borrow_function(b, restore_name);
	if (!b->restore)
		return -ENOENT;
	ret = guest_read(b->g, b->restore, code, sizeof(code));
	if (ret)
		return ret == -EFAULT ? -ENOENT : ret;
	return memcmp(code, restore_code, sizeof(code)) ? -ENOENT : 0;
}

int borrow_frame_write(struct borrow *b, unsigned int vcpu)
{
	const struct machine_regs *r = &b->saved;
	struct frame f = {.landing = b->landing, .restore = b->restore};
	struct machine_sregs s;
	int ret = machine_get_sregs(b->g->m, vcpu, &s);

	if (ret)
		return ret;
	f.regs.r15 = r->r15, f.regs.r14 = r->r14, f.regs.r13 = r->r13, f.regs.r12 = r->r12;
	f.regs.rbp = r->rbp, f.regs.rbx = r->rbx, f.regs.r11 = r->r11, f.regs.r10 = r->r10;
	f.regs.r9 = r->r9, f.regs.r8 = r->r8, f.regs.rax = r->rax, f.regs.rcx = r->rcx;
	f.regs.rdx = r->rdx, f.regs.rsi = r->rsi, f.regs.rdi = r->rdi;
	f.regs.rip = r->rip, f.regs.cs = s.cs, f.regs.eflags = r->rflags;
	f.regs.rsp = r->rsp, f.regs.ss = s.ss;
	/* As a call leaves it: 8 below a multiple of 16. */
	b->sp = ((r->rsp - STACK_SPACE - sizeof(f)) & ~UINT64_C(15)) - 8;
	return guest_write(b->g, b->sp, &f, sizeof(f));
}

int borrow_frame_call(struct borrow *b, unsigned int vcpu)
{
	const struct borrow_call *call = &b->calls[b->next];
	struct machine_regs regs = b->saved;
	int ret;

	regs.rip = call->fn;
	regs.rdi = call->arg[0];
	regs.rsi = call->arg[1];
	regs.rdx = call->arg[2];
	regs.rcx = call->arg[3];
	regs.rsp = b->sp;
	/* An interrupt may have come since the last return, and used the stack from here on. */
	ret = guest_write(b->g, b->sp, &b->landing, sizeof(b->landing));
	return ret ? ret : machine_set_regs(b->g->m, vcpu, &regs);
}
