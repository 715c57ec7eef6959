/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * copy.S - the part of the payload that copies the guest's stacks into the ring of event data
 * (payload.h, EVENT_COPY_LEN): behind an event, beside the end of a window. payload.S includes it.
 */

/*
 * Room for %ecx bytes in the vCPU's ring of event data: %rax offset of control block. %r8d gets the
 * place as CTL_EVENT_HEAD counts, %edx the offset in the ring.
 */
	.macro	event_room
.Lroom\@:
	mov	%ecx, %r8d
	xadd	%r8, WINDOW_CTL + CTL_EVENT_HEAD(%rax)
	at	PATCH_WINDOW
	mov	%r8d, %edx
	and	$IMM32, %edx
	at	PATCH_EVENT_MASK
	lea	-1(%rdx, %rcx), %edx
	cmp	$IMM32, %edx
	at	PATCH_EVENT_MASK
	ja	.Lroom\@ /* it does not end before the ring does */
	sub	%ecx, %edx
	inc	%edx
	.endm

	/* %rax: how many bytes there are from %rsi to the end of the task's stack, at %rdx. */
	.macro	stack_left otherwise
	mov	%rsi, %rax
	xor	%rdx, %rax
	cmp	$IMM32, %rax
	at	PATCH_STACK_MASK
	ja	\otherwise
	mov	%rsi, %rax
	not	%rax
	and	$IMM32, %eax
	at	PATCH_STACK_MASK
	inc	%eax
	.endm

	/* As many words as there are in %rax bytes, but at most max. Changes %r9. */
	.macro	words_of max
	shr	$3, %eax
	mov	$\max, %r9d
	cmp	%r9d, %eax
	cmova	%r9d, %eax
	.endm

	/*
	 * Which words of the stacks are copied: %eax of them from %rsi on. Those of the task's come
	 * second where interrupts have a stack of their own, whose highest word, at %r8, leads
	 * there; else %r8 is 0. %rsi is a stack pointer; changes %rdx and %r9.
	 */
	.macro	first_words none
	mov	%gs:0, %rdx
	at	PATCH_CURRENT_TASK
5:	{disp32} mov 0(%rdx), %rdx
	at	PATCH_TASK_STACK
	only_with PATCH_TASK_STACK, 5b
	xor	%r8d, %r8d
	stack_left 6f
	jmp	7f
6:	mov	%gs:IMM32, %r8
	at	PATCH_IRQ_STACK
	mov	%r8, %rax
	sub	%rsi, %rax
	cmp	$IRQ_STACK_SIZE, %rax
	jae	\none
	add	$8, %rax
7:	words_of EVENT_COPY_WORDS
	.endm

	.macro	second_words none
	test	%r8, %r8
	jz	\none
	mov	(%r8), %rsi
	stack_left \none
	words_of EVENT_COPY_TASK_WORDS
	.endm

	/* Add to %rcx what a copy of the stack from %rsi on takes. Changes %r8. */
.Lcopy_size:
	holds	0
	push	%rax
	push	%rdx
	push	%rsi
	push	%r9
	first_words 4f
	lea	(%rcx, %rax, 8), %rcx
	second_words 4f
	lea	(%rcx, %rax, 8), %rcx
4:	add	$COPY_WORD, %rcx
	pop	%r9
	pop	%rsi
	pop	%rdx
	pop	%rax
	ret

	/* Copy it, to %rdi. All registers but %rdx, %rsi and %rdi are as before. */
.Lcopy_stack:
	holds	0
	push	%rax
	push	%rcx
	push	%r8
	push	%r9
	mov	%rsi, COPY_SP(%rdi)
	mov	%rbp, COPY_BP(%rdi)
	movq	$0, COPY_TASK_SP(%rdi)
	movq	$0, COPY_N(%rdi)
	push	%rdi
	first_words 4f
	mov	%eax, COPY_N(%rdi)
	mov	%eax, %ecx
	add	$COPY_WORD, %rdi
	rep	movsq
	second_words 4f
	mov	(%rsp), %rcx
	mov	%rsi, COPY_TASK_SP(%rcx)
	mov	%eax, COPY_TASK_N(%rcx)
	mov	%eax, %ecx
	rep	movsq
4:	pop	%rdi
	pop	%r9
	pop	%r8
	pop	%rcx
	pop	%rax
	ret

/*
 * A window has ended, with CRITICAL_COPY: %rcx offset of control block, %edx and %rsi number and
 * offset of the end's record, %rax its RECORD_SP; (%rdi) the site's end. Changes %rcx, %r8 and %r9.
 */
.Lcritical_longest:
	holds	4
	push	%rax
	lea	-1(%rdx), %eax
	shl	$PAYLOAD_RECORD_SHIFT, %rax
	and	$IMM32, %eax
	at	PATCH_RING_MASK
	mov	%rcx, %r9
	shl	$0, %r9
	at	PATCH_RING_SHIFT, 1
	add	%r9, %rax
	imul	$LIMITS_FROM, WINDOW_RINGS + RECORD_IP(%rax), %r9d
	at	PATCH_WINDOW, 4, 4
	add	WINDOW_RINGS + RECORD_IP(%rsi), %r9d
	at	PATCH_WINDOW
	add	WINDOW_RINGS + RECORD_PARENT(%rsi), %r9d
	at	PATCH_WINDOW
	imul	$LIMITS_BOTH, %r9d, %r9d
	shr	$32 - LIMITS_SHIFT, %r9d
	mov	WINDOW_RINGS + RECORD_TSC(%rsi), %r8
	at	PATCH_WINDOW
	sub	WINDOW_RINGS + RECORD_TSC(%rax), %r8
	at	PATCH_WINDOW
	pop	%rax
	cmp	WINDOW_LIMITS(, %r9, 8), %r8
	at	PATCH_WINDOW
	jbe	.Lcritical_complete
	mov	%r8, WINDOW_LIMITS(, %r9, 8)
	at	PATCH_WINDOW
1:	jmp	.Lcritical_ask /* room for a copy is not waited for */
	only_with PATCH_FULL_TIMEOUT, 1b
	push	%rdx
	push	%rdi
	push	%rsi
	mov	%rcx, %rax
	mov	%rdi, %rsi
	mov	$EVENT_HEADER, %ecx
	call	.Lcopy_size
	event_room
	mov	%rax, %rcx
	shl	$0, %rcx
	at	PATCH_EVENT_SHIFT, 1
	add	%rcx, %rdx
	lea	EVENT_HEADER(%rdx), %rdi
	add	$IMM32, %rdi
	at	PATCH_EVENT_RINGS
	call	.Lcopy_stack
	pop	%rsi
	pop	%rdi
	pop	%rdx
	add	$WINDOW_END_COPY, %r8d
	or	%r8d, WINDOW_RINGS + RECORD_PARENT(%rsi)
	at	PATCH_WINDOW
	mov	%rax, %rcx
	jmp	.Lcritical_complete
