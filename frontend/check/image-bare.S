/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * image-bare.S - a guest that comes by a few sites again and again and then resets itself. It runs where
 * it is loaded, at the kernel's entry point: 64-bit mode, the first 4 GiB mapped one to one.
 *
 * In rbx there is the TSC just before a site, in rbp what must be the same behind it.
 */
#include "frontend/check/image.h"

#define PAGE_DIR     0x2000 /* a page that the loader has left free */
#define LARGE	     0x200000
#define PTE_TABLE    0x3
#define PTE_LARGE    0x83
#define MARK	     0x123456789abcdef

	.section .note.GNU-stack, "", @progbits
	.section .rodata.bare, "a", @progbits
	.globl	bare_image, bare_image_end, bare_out, bare_int3, bare_return, bare_once
	.globl	bare_count, bare_window, bare_flaws

	elf_image bare_image, BARE_BASE, bare_entry, bare_image_end, 4096, 7

	.macro	nop5
	.byte	0x0f, 0x1f, 0x44, 0, 0
	.endm

	.macro	tsc_to_rbx
	rdtsc
	shlq	$32, %rdx
	orq	%rdx, %rax
	movq	%rax, %rbx
	.endm

	/* What a site must not change: a mark in rbp, the round in ecx, and the flags. */
	.macro	flaw_if condition
	j\condition 9f
	incl	bare_flaws(%rip)
9:
	.endm

bare_entry:
	cli
	leaq	bare_image_end + 4096(%rip), %rsp
	movabsq	$MARK, %rbp

	movl	$BARE_ROUNDS, %ecx
1:	tsc_to_rbx
	stc
bare_out:
	nop5
	flaw_if	c
	decl	%ecx
	jnz	1b

	movl	$BARE_ROUNDS, %ecx
1:	tsc_to_rbx
	stc
bare_int3:
	nop5
	flaw_if	c
	decl	%ecx
	jnz	1b

	movl	$BARE_ROUNDS, %ecx
1:	tsc_to_rbx
	movq	%rsp, %rsi
	call	function
	cmpq	%rsp, %rsi
	flaw_if	e
	decl	%ecx
	jnz	1b

	movl	$BARE_ROUNDS, %ecx
1:	tsc_to_rbx
bare_once:
	incl	bare_count(%rip)
	decl	%ecx
	jnz	1b

	movabsq	$MARK, %rax
	cmpq	%rax, %rbp
	flaw_if	e
	call	window
	movb	$BARE_RESET, %al
	outb	%al, $BARE_PORT
	hlt

function:
bare_return:
	ret
	int3
	int3
	int3
	int3

	/* Where the host has put memory, of which it says where: answer its word with the opposite. */
window:
	movq	bare_window(%rip), %rdi
	testq	%rdi, %rdi
	jz	2f
	movq	%rdi, %rax
	shrq	$32, %rax
	jz	1f
	movq	%cr3, %rsi		/* it is not mapped yet */
	movq	(%rsi), %rsi
	andq	$-4096, %rsi
	movq	%rdi, %rax
	shrq	$30, %rax
	movq	$PAGE_DIR + PTE_TABLE, (%rsi, %rax, 8)
	movq	%rdi, %rax
	shrq	$21, %rax
	andl	$511, %eax
	movq	%rdi, %rdx
	andq	$-LARGE, %rdx
	orq	$PTE_LARGE, %rdx
	movq	%rdx, PAGE_DIR(, %rax, 8)
1:	movq	(%rdi), %rax
	notq	%rax
	movq	%rax, 8(%rdi)
2:	ret

	.balign	8
bare_window:
	.quad	0
bare_count:
	.long	0
bare_flaws:
	.long	0
bare_image_end:
