/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * start.S - from the boot protocol's 64-bit entry, and from a start-up IPI, to C at the upper
 * addresses; and the stubs of the exceptions and interrupts.
 *
 * The identity mapping of the loader is kept (entry 0 of the PML4), because the second vCPU turns
 * paging on at a low address.
 */
#include "guest.h"

#define PHYS(symbol) ((symbol) - VIRT_BASE)

#define REGS_CS 0x88 /* in struct pt_regs */

#define MSR_EFER    0xc0000080
#define MSR_GS_BASE 0xc0000101
#define EFER_LME    0x100
#define EFER_NXE    0x800

/* This CPU's number is in rdi; changes rax, rcx, rdx. */
	.macro	set_gs_base
	movq	__per_cpu_offset(, %rdi, 8), %rax
	movq	%rax, %rdx
	shrq	$32, %rdx
	movl	$MSR_GS_BASE, %ecx
	wrmsr
	.endm

	.section .text.start, "ax"
	.code64
	.globl	start
start:
	/* rsi: boot_params. Running at physical addresses. */
	cli
	movq	$PHYS(init_pgt), %rax
	movq	%rax, %cr3
	movabsq	$1f, %rax
	jmp	*%rax
1:	lgdt	gdt_pointer(%rip)
	movq	$cpu_stacks + STACK_SIZE, %rsp
	pushq	$CODE_SEG
	pushq	$1f
	lretq
1:	movl	$DATA_SEG, %eax
	movl	%eax, %ds
	movl	%eax, %es
	movl	%eax, %ss
	movl	$MSR_EFER, %ecx
	rdmsr
	orl	$EFER_NXE, %eax
	wrmsr
	movq	%rsi, %rbx
	call	kernel_init
	xorl	%edi, %edi
	set_gs_base
	movq	%rbx, %rdi
	call	guest_main
	jmp	halt

	/* Where a start-up vCPU arrives with rdi: its number. */
ap_start64:
	movq	%rdi, %rax
	incq	%rax
	imulq	$STACK_SIZE, %rax
	leaq	cpu_stacks(%rax), %rsp
	set_gs_base
	call	guest_ap_main
	.globl	halt
halt:
	cli
1:	hlt
	jmp	1b

	/* Copied to AP_START: real mode, one 64 KiB segment at that address. */
	.globl	ap_trampoline, ap_trampoline_end
	.code16
ap_trampoline:
	cli
	movw	%cs, %ax
	movw	%ax, %ds
	lgdtl	ap_gdt_pointer - ap_trampoline
	movl	%cr0, %eax
	orl	$1, %eax
	movl	%eax, %cr0
	ljmpl	$CODE32_SEG, $AP_START + (1f - ap_trampoline)
	.code32
1:	movl	$DATA_SEG, %eax
	movl	%eax, %ds
	movl	%eax, %es
	movl	%eax, %ss
	movl	%cr4, %eax
	orl	$0x20, %eax		/* PAE */
	movl	%eax, %cr4
	movl	$PHYS(init_pgt), %eax
	movl	%eax, %cr3
	movl	$MSR_EFER, %ecx
	rdmsr
	orl	$(EFER_LME | EFER_NXE), %eax
	wrmsr
	movl	%cr0, %eax
	orl	$0x80010000, %eax	/* PG, WP */
	movl	%eax, %cr0
	ljmpl	$CODE_SEG, $AP_START + (1f - ap_trampoline)
	.code64
1:	movabsq	$1f, %rax
	jmp	*%rax
	.balign	8
ap_gdt_pointer:
	.word	gdt_end - gdt - 1
	.long	PHYS(gdt)
ap_trampoline_end:
1:	lgdt	gdt_pointer(%rip)
	movl	ap_number(%rip), %edi
	jmp	ap_start64

/* --- exceptions and interrupts ------------------------------------------------------------- */

	.text
	.balign	16
	.globl	vector_stubs
vector_stubs:				/* VECTOR_STUB bytes each */
	.set	vector, 0
	.rept	NR_VECTORS
	.balign	VECTOR_STUB
	/* Linux's names, by which who attaches to it finds out where it lies. */
	.if	vector == 0
asm_exc_divide_error:
	.elseif	vector == 13
asm_exc_general_protection:
	.elseif	vector == 14
asm_exc_page_fault:
	.endif
	.if	vector != 8 && (vector < 10 || vector > 14) && vector != 17 && vector != 21
	pushq	$0			/* these have no error code */
	.endif
	pushq	$vector
	jmp	vector_common
	.set	vector, vector + 1
	.endr

vector_common:				/* the layout of struct frame */
	xchgq	%rax, (%rsp)
	pushq	%rbx
	pushq	%rcx
	pushq	%rdx
	pushq	%rsi
	pushq	%rdi
	pushq	%rbp
	pushq	%r8
	pushq	%r9
	pushq	%r10
	pushq	%r11
	pushq	%r12
	pushq	%r13
	pushq	%r14
	pushq	%r15
	pushq	%rax
	cld
	xorl	%ebx, %ebx
	cmpq	$VECTOR_TIMER, %rax
	jb	1f
	movl	$HARDIRQ_OFFSET, %ebx
1:	addl	%ebx, %gs:__preempt_count
	movq	%rsp, %rdi
	call	guest_interrupt
	subl	%ebx, %gs:__preempt_count
	addq	$8, %rsp

	/* As in Linux the way out of all but NMIs: %rsp leads to struct pt_regs. */
	.globl	error_return
	.type	error_return, @function
error_return:
	testb	$3, REGS_CS(%rsp)
	jnz	halt			/* nobody is in user mode here */
	popq	%r15
	popq	%r14
	popq	%r13
	popq	%r12
	popq	%r11
	popq	%r10
	popq	%r9
	popq	%r8
	popq	%rbp
	popq	%rdi
	popq	%rsi
	popq	%rdx
	popq	%rcx
	popq	%rbx
	popq	%rax
	addq	$8, %rsp
	iretq
	.size	error_return, . - error_return

	/* call_on_irq_stack(function, arg) */
	.globl	call_on_irq_stack
	.type	call_on_irq_stack, @function
call_on_irq_stack:
	movq	%rdi, %rax
	movq	%rsi, %rdi
	movq	%gs:hardirq_stack_ptr, %rdx
	movq	%rsp, (%rdx)
	movq	%rdx, %rsp
	call	*%rax
	popq	%rsp
	ret
	.size	call_on_irq_stack, . - call_on_irq_stack

	/* What functions jump to as their return. */
	.globl	__x86_return_thunk
	.type	__x86_return_thunk, @function
__x86_return_thunk:
	ret
	int3
	.size	__x86_return_thunk, . - __x86_return_thunk

	/* What every instrumented function calls first; registers are not its to touch. */
	.globl	__fentry__
	.type	__fentry__, @function
__fentry__:
	ret
	.size	__fentry__, . - __fentry__

/* --- tables -------------------------------------------------------------------------------- */

	.data
	.balign	8
gdt:	.quad	0
	.quad	0x00cf9b000000ffff	/* CODE32_SEG */
	.quad	0x00af9b000000ffff	/* CODE_SEG */
	.quad	0x00cf93000000ffff	/* DATA_SEG */
gdt_end:
	.word	0, 0, 0
gdt_pointer:
	.word	gdt_end - gdt - 1
	.quad	gdt

	/* struct percpu: each CPU's is elsewhere, by what __per_cpu_offset[] says (Linux 6.15) */
	.balign	8
	.globl	percpu_linked, cpu_number, __preempt_count, current_task
	.globl	hardirq_stack_ptr, cyc2ns
percpu_linked:
cpu_number:
	.long	0
__preempt_count:
	.long	0
current_task:
	.quad	0
hardirq_stack_ptr:
	.quad	0
cyc2ns:
	.skip	CYC2NS_SIZE

/* Identity and direct map share the tables: the first 8 GiB in pages of 2 MiB. */
#define ENTRY_TABLE 0x3
#define ENTRY_LARGE 0x83

	.balign	4096
	.globl	init_pgt, init_top_pgt
init_top_pgt:
init_pgt:
	.quad	PHYS(low_pud) + ENTRY_TABLE
	.fill	272, 8, 0
	.quad	PHYS(low_pud) + ENTRY_TABLE	/* 273: DIRECT_BASE */
	.fill	237, 8, 0
	.quad	PHYS(high_pud) + ENTRY_TABLE	/* 511 */
low_pud:
	.set	nr, 0
	.rept	DIRECT_GIB
	.quad	PHYS(low_pmd) + nr * 4096 + ENTRY_TABLE
	.set	nr, nr + 1
	.endr
	.fill	512 - DIRECT_GIB, 8, 0
high_pud:
	.fill	510, 8, 0
	.quad	PHYS(high_pmd) + ENTRY_TABLE	/* 510: VIRT_BASE */
	.quad	PHYS(upper_pmd) + ENTRY_TABLE	/* 511: modules and the fixmap, had we any */
high_pmd:					/* the first 64 MiB; the second 2 MiB of text in small pages */
	.set	nr, 0
	.rept	32
	.if	nr == SMALL_PMD
	.quad	PHYS(small_pte) + ENTRY_TABLE
	.else
	.quad	nr * 0x200000 + ENTRY_LARGE
	.endif
	.set	nr, nr + 1
	.endr
	.fill	480, 8, 0
upper_pmd:
	.fill	512, 8, 0
small_pte:
	.set	nr, 0
	.rept	512
	.quad	SMALL_PMD * 0x200000 + nr * 4096 + ENTRY_TABLE
	.set	nr, nr + 1
	.endr
low_pmd:
	.set	nr, 0
	.rept	512 * DIRECT_GIB
	.quad	nr * 0x200000 + ENTRY_LARGE
	.set	nr, nr + 1
	.endr

	.bss
	.balign	STACK_SIZE		/* THREAD_ALIGN */
	.globl	cpu_stacks, irq_stacks
cpu_stacks:
	.skip	STACK_SIZE * MAX_CPUS
irq_stacks:
	.skip	STACK_SIZE * MAX_CPUS
