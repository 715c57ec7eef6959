/* SPDX-License-Identifier: GPL-2.0-or-later */
/* all-regs.h - call something with all registers and flags known, and see what they are then. */
#ifndef HVTRACE_TESTS_ALL_REGS_H
#define HVTRACE_TESTS_ALL_REGS_H

#include <stdint.h>

enum {
	FLAG_TRAP = 1 << 8,
	FLAG_ARITHMETIC = 0x8d5, /* CF PF AF ZF SF OF */
};

/* Every register; rsp is set by exit_enter(): where the return address is. */
struct all_regs {
	uint64_t rax, rbx, rcx, rdx, rsi, rdi, rbp, r8, r9, r10, r11, r12, r13, r14, r15, flags;
	uint64_t rsp;
};

/* Call `function` with these registers and put what they are afterwards in their place. */
void exit_enter(struct all_regs *regs, void *function);

__asm__(".pushsection .text\n"
	".globl exit_enter\n"
	"exit_enter:\n"
	"	push %rbx; push %rbp; push %r12; push %r13; push %r14; push %r15\n"
	"	push %rdi\n" /* 8(%rsp) below */
	"	push %rsi\n" /* (%rsp) */
	"	lea -8(%rsp), %rax; mov %rax, 128(%rdi)\n"
	"	pushq 120(%rdi); popf\n"
	"	mov (%rdi), %rax; mov 8(%rdi), %rbx; mov 16(%rdi), %rcx; mov 24(%rdi), %rdx\n"
	"	mov 32(%rdi), %rsi; mov 48(%rdi), %rbp; mov 56(%rdi), %r8\n"
	"	mov 64(%rdi), %r9; mov 72(%rdi), %r10; mov 80(%rdi), %r11; mov 88(%rdi), %r12\n"
	"	mov 96(%rdi), %r13; mov 104(%rdi), %r14; mov 112(%rdi), %r15; mov 40(%rdi), %rdi\n"
	"	call *(%rsp)\n"
	"	pushf\n"
	"	push %rdi\n"
	"	mov 24(%rsp), %rdi\n" /* regs */
	"	mov %rax, (%rdi); mov %rbx, 8(%rdi); mov %rcx, 16(%rdi); mov %rdx, 24(%rdi)\n"
	"	mov %rsi, 32(%rdi); mov %rbp, 48(%rdi); mov %r8, 56(%rdi); mov %r9, 64(%rdi)\n"
	"	mov %r10, 72(%rdi); mov %r11, 80(%rdi); mov %r12, 88(%rdi); mov %r13, 96(%rdi)\n"
	"	mov %r14, 104(%rdi); mov %r15, 112(%rdi)\n"
	"	pop %rax; mov %rax, 40(%rdi); pop %rax; mov %rax, 120(%rdi)\n"
	"	pushq $2; popf\n" /* no single steps from here on */
	"	add $16, %rsp\n"
	"	pop %r15; pop %r14; pop %r13; pop %r12; pop %rbp; pop %rbx\n"
	"	ret\n"
	".popsection\n");

static const struct all_regs all = {
	.rax = 0x0102030405060708,
	.rbx = 2,
	.rcx = ~UINT64_C(3),
	.rdx = ~UINT64_C(4),
	.rsi = 5,
	.rdi = 0x1122334455667788,
	.rbp = 7,
	.r8 = 8,
	.r9 = ~UINT64_C(9),
	.r10 = 0xaaaaaaaaaaaaaaaa,
	.r11 = 11,
	.r12 = 12,
	.r13 = 13,
	.r14 = 14,
	.r15 = 15,
	.flags = 2,
};

#endif
