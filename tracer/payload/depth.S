/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * depth.S - the part of the payload that looks how deep stacks are, for the stack tracer; payload.S
 * includes it, behind function.S and call.S.
 *
 * A call to the host where the stack of a task is deeper than the host says. Nothing is recorded of
 * it, or all else is. Only the first compare is common, and nothing but the word that it reads is
 * shared: so nothing is counted, and a task may be preempted and moved anywhere in here.
 */

	.macro	depth_look otherwise
	mov	%esp, %r10d
	neg	%r10d
	and	$IMM32, %r10d
	at	PATCH_STACK_MASK
	cmp	WINDOW_DEPTH, %r10d
	at	PATCH_WINDOW
	jbe	\otherwise
	/* It may be an interrupt's stack, which is aligned to nothing. */
	mov	%gs:0, %r10
	at	PATCH_CURRENT_TASK
	mov	%rsp, %r11
1:	{disp32} sub 0(%r10), %r11
	at	PATCH_TASK_STACK
	only_with PATCH_TASK_STACK, 1b
	cmp	$IMM32, %r11
	at	PATCH_STACK_MASK
	ja	\otherwise
	/* Some NMIs come on the task's. */
	testl	$NMI_COUNT_MASK, %gs:0
	at	PATCH_PREEMPT_COUNT, 4, 4
	jnz	\otherwise
	mov	%gs:0, %r10d
	at	PATCH_CPU_NUMBER
	shl	$CTL_SHIFT, %r10d
	testb	$PAYLOAD_CALL_BUSY, WINDOW_CTL + CTL_CALL(%r10)
	at	PATCH_WINDOW, 4, 1
	jnz	\otherwise
	.endm

	.globl	payload_depth
payload_depth:
	depth_look .Ldepth_return
	jmp	.Lcall
.Ldepth_return:
	ret
	.globl	payload_depth_record
payload_depth_record:
	depth_look .Lfunction
	jmp	.Lcall
	edge	payload_depth
