/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * print.S - the part of the payload that sees what the guest writes into its own trace; payload.S
 * includes it, behind event.S.
 *
 * trace_printk(), trace_puts() and trace_marker have no probes: they reserve room in the guest's
 * own ring buffer, ask ring_buffer_event_data(event) where its data is, write it, and call
 * ring_buffer_unlock_commit(buffer, ...) (kernel/trace/trace.c). Both functions begin with a jump
 * to here. The first is told the event, which the second is not (from 6.3 on): so it is kept for
 * it, for each of the contexts that can be in the middle of a record. If what is committed is of a
 * type that the host wants (CTL_PRINTS), and in the buffer of the guest's top level, its data is
 * copied, as a record of the file EVENT_FILE_PRINTS. The guest's own record is as ever.
 *
 * Both are also called by those who may be preempted, and by the guest's own tracers: nothing but
 * %rax is changed. preempt_count is raised, so that the vCPU stays the same.
 */

#define IN_INTERRUPT (INTERRUPT_COUNT_MASK - SOFTIRQ_OFFSET) /* or in an NMI */

	/* Changes %rax. */
	.macro	count_step insn
	mov	%gs:0, %eax
	at	PATCH_PREEMPT_COUNT
	\insn	%eax
	mov	%al, %gs:0
	at	PATCH_PREEMPT_COUNT
	.endm

	/*
	 * %rax: where the event is kept that this context is writing, as an offset from the control
	 * blocks; by preempt_count in %eax. Changes %rcx and %rdx.
	 */
	.macro	event_kept
	xor	%edx, %edx
	.irp	mask, NMI_COUNT_MASK, IN_INTERRUPT, INTERRUPT_COUNT_MASK
	mov	%eax, %ecx
	and	$\mask, %ecx
	neg	%ecx /* carry: there was one */
	adc	$0, %edx
	.endr
	mov	%gs:0, %eax
	at	PATCH_CPU_NUMBER
	shl	$CTL_SHIFT, %eax
	lea	CTL_WRITING(%rax, %rdx, 8), %rax
	.endm

	.globl	payload_event_data
payload_event_data:
	count_step inc
	edge	payload_event_data, EDGE_DETOUR
	push	%rcx
	push	%rdx
	event_kept
	mov	%rdi, WINDOW_CTL(%rax)
	at	PATCH_WINDOW
	pop	%rdx
	pop	%rcx
	count_step dec
	detour_rest payload_event_data_rest

	.globl	payload_ring_commit
payload_ring_commit:
	count_step inc
	edge	payload_ring_commit, EDGE_DETOUR
	push	%rcx
	push	%rdx
	event_kept
	mov	WINDOW_CTL(%rax), %rdx
	at	PATCH_WINDOW
	movq	$0, WINDOW_CTL(%rax)
	at	PATCH_WINDOW, 4, 4
	test	%rdx, %rdx
	jz	.Lring_commit
	cmp	IMM32, %rdi
	at	PATCH_TRACE_BUFFER
	jne	.Lring_commit
	and	$~(CTL_SIZE - 1), %eax
	mov	WINDOW_CTL + CTL_PRINTS(%rax), %eax
	at	PATCH_WINDOW
	test	%eax, %eax
	jnz	.Lprint_look
.Lring_commit:
	pop	%rdx
	pop	%rcx
	count_step dec
	detour_rest payload_ring_commit_rest

	/* %rdx the event, %eax CTL_PRINTS. What an event begins with: RING_EVENT_ in payload.h */
.Lprint_look:
	holds	2
	push	%rsi
	mov	(%rdx), %ecx
	and	$RING_EVENT_TYPE, %ecx
	cmp	$RING_EVENT_EXTEND, %ecx
	jb	1f
	add	$RING_EVENT_EXTEND_LEN, %rdx
	mov	(%rdx), %ecx
	and	$RING_EVENT_TYPE, %ecx
1:	shl	$2, %ecx
	jnz	2f
	mov	4(%rdx), %ecx
	sub	$4, %ecx
	add	$4, %rdx
2:	add	$4, %rdx
	movzwl	(%rdx), %esi
	cmp	$31, %esi
	ja	3f
	bt	%esi, %eax
	jc	.Lprint_copy
3:	pop	%rsi
	jmp	.Lring_commit

	/*
	 * PRINT_TRAP_FRAME and PRINT_COMMIT_FRAME count what has been pushed.
	 *
	 * Where probes are traps the host takes the place of the NOP, and the data (tracepoint/prints.h).
	 * Should it be gone, that is all.
	 */
	.globl	payload_print_trap
payload_print_trap:
	holds	3
	xchg	%ax, %ax
	jmp	3b

	/* %rcx bytes at %rdx; %rsi has been pushed. */
.Lprint_copy:
	test	$PRINTS_STOP, %al
	jnz	payload_print_trap
	push	%rdi
	push	%r8
	push	%r9
	push	%r10
	push	%r11
	push	%rdx
	push	%rcx
	sub	$FBUFFER_SIZE, %rsp
	holds	pushed + FBUFFER_SIZE / 8
	mov	%rsp, %rdi
	mov	$WINDOW_EVENT_FILES + EVENT_FILE_PRINTS, %rsi
	at	PATCH_WINDOW
	mov	$EVENT_FILE_PRINTS, %eax
	mov	%rcx, %rdx
	call	.Lreserve_file
	test	%rax, %rax
	jz	1f
	mov	FBUFFER_SIZE(%rsp), %rcx
	mov	FBUFFER_SIZE + 8(%rsp), %rsi
	mov	%rax, %rdi
	rep	movsb
	mov	%rsp, %rdi
	mov	$EVENT_FILE_PRINTS, %eax
	call	.Lcommit_file
1:	add	$FBUFFER_SIZE, %rsp
	holds	pushed - FBUFFER_SIZE / 8
	pop	%rcx
	pop	%rdx
	pop	%r11
	pop	%r10
	pop	%r9
	pop	%r8
	pop	%rdi
	jmp	3b
