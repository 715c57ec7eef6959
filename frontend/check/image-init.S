/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * image-init.S - the first process of a guest that is checked. It says when it is there, and then over
 * and over that it is alive; in between it calls umask(2) with the TSC that it has just read, so
 * that whoever traces that call can compare. With the argument "stay" it goes on like that
 * for some minutes, without it it powers the machine off at once. There may be others: the kernel
 * hands on the words of its command line that it does not know, such as nokaslr to one that has
 * not been decompressed in the machine.
 */
#include <asm/unistd.h>

#include "frontend/check/image.h"

#define CALLS 20   /* of umask between two naps */
#define NAPS  10   /* between two words */
#define WORDS 3000 /* of 10 naps of 10 ms */

#define STAY 0x79617473 /* the four letters */

#define POWER_OFF 0x4321fedc /* LINUX_REBOOT_CMD_POWER_OFF, with the two numbers of reboot(2) */
#define MAGIC1	  0xfee1dead
#define MAGIC2	  672274793

	.section .note.GNU-stack, "", @progbits
	.section .rodata.init, "a", @progbits
	.globl	init_image, init_image_end

	elf_image init_image, INIT_BASE, start, init_image_end, 0, 5

	.macro	say text
	movl	$__NR_write, %eax
	movl	$1, %edi
	leaq	\text(%rip), %rsi
	movl	$\text\()_end - \text, %edx
	syscall
	.endm

start:
	movq	(%rsp), %r12		/* arguments, with the program's name */
	say	ready
	movl	$1, %r13d
argument:
	decq	%r12
	jle	word
	movq	8(%rsp, %r12, 8), %rax
	cmpl	$STAY, (%rax)
	jne	argument
	movl	$WORDS, %r13d
word:
	movl	$NAPS, %r14d
nap:
	movl	$CALLS, %ebx
1:	rdtsc
	shlq	$32, %rdx
	leaq	(%rdx, %rax), %rdi
	movl	$__NR_umask, %eax
	syscall
	decl	%ebx
	jnz	1b
	movl	$__NR_nanosleep, %eax
	leaq	ten_ms(%rip), %rdi
	xorl	%esi, %esi
	syscall
	decl	%r14d
	jnz	nap
	say	alive
	decl	%r13d
	jnz	word

	movl	$__NR_reboot, %eax
	movl	$MAGIC1, %edi
	movl	$MAGIC2, %esi
	movl	$POWER_OFF, %edx
	syscall
1:	jmp	1b

ready:	.ascii	INIT_SAYS, "ready\n"
ready_end:
alive:	.ascii	INIT_SAYS, "alive\n"
alive_end:
	.balign	8
ten_ms:	.quad	0, 10000000
init_image_end:
