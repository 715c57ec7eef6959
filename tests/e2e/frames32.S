/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * frames32.S - a 32-bit program with frame pointers, for kernels of 64 bits: three functions deep it
 * makes a system call in each way that there is, and then it waits until it is killed.
 *
 * Of each call the number is that of another one where the kernel's own size counts: getpid is
 * writev there, pause is shmget. The last of the three is a call of 64 bits.
 */
#define GETPID	  20
#define PAUSE	  29
#define GETPPID64 110

#define AT_SYSINFO 32 /* of auxiliary vectors: the vDSO's way into the kernel */

/* arch/x86/include/asm/segment.h */
#define USER32_CS 0x23
#define USER_CS	  0x33

	.macro	FUNCTION name
	.globl	\name
	.type	\name, @function
\name:
	push	%ebp
	mov	%esp, %ebp
	.endm

	.macro	END name
	leave
	ret
	.size	\name, . - \name
	.endm

	.text
	FUNCTION innermost
	mov	$GETPID, %eax
	int	$0x80
	mov	$GETPID, %eax
	call	*sysinfo

	/* What is 64-bit code here is the same in 32 bits. No lret: QEMU's reads the stack as if the kernel did. */
	ljmp	$USER_CS, $1f
1:	mov	$GETPPID64, %eax
	syscall
	mov	$back, %ecx
	ljmp	*(%ecx)
.Lbits_32:
	END	innermost

	/* What it hands on is where a frame of 64 bits would have the return address. */
	FUNCTION middle
	push	$0x22222222
	push	$0x11111111
	call	innermost
	END	middle

	FUNCTION outermost
	push	$0x44444444
	push	$0x33333333
	call	middle
	END	outermost

without_vdso:
	int	$0x80
	ret

	.globl	_start
	.type	_start, @function
_start:
	mov	%esp, %esi
3:	lods	(%esi), %eax /* arguments and the environment, each with a 0 behind them */
	test	%eax, %eax
	jnz	3b
4:	lods	(%esi), %eax
	test	%eax, %eax
	jnz	4b
5:	lods	(%esi), %eax
	mov	%eax, %edx
	lods	(%esi), %eax
	cmp	$AT_SYSINFO, %edx
	je	6f
	test	%edx, %edx
	jnz	5b
	mov	$without_vdso, %eax
6:	mov	%eax, sysinfo
	call	outermost
7:	mov	$PAUSE, %eax
	int	$0x80
	jmp	7b
	.size	_start, . - _start

	.section .rodata
back:
	.long	.Lbits_32
	.word	USER32_CS

	.bss
	.balign	4
sysinfo:
	.long	0

	.section .note.GNU-stack, "", @progbits
