/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * call.S - the part of the payload that calls the host and waits for its answer (payload.h,
 * CTL_CALL); payload.S includes it, behind function.S.
 */

/* Jump to `target` if nobody is there who would answer. */
	.macro	look_for_host target
	cmpb	$HOST_GONE, WINDOW_HOST
	at	PATCH_WINDOW, 4, 1
	je	\target
	.endm

/*
 * Jump to `target` while there is a host, and less than call_timeout has passed since %r11; changes
 * %rax, %rdx.
 */
	.macro	until_timeout target
	look_for_host .Lover\@
	read_tsc
	sub	%r11, %rax
	movabs	$0, %rdx
	at	PATCH_CALL_TIMEOUT, 8
	cmp	%rdx, %rax
	jb	\target
.Lover\@:
	.endm

/* Leaves in %r11d whether there was no answer, for who calls it from here: never told AGAIN. */
	.globl	payload_call
payload_call:
	site_of	FRAME_BARE
.Lcall:
	incl	%gs:0
	at	PATCH_PREEMPT_COUNT
	edge	payload_call
	pushf
	push	%rax
	push	%rdx
	mov	%gs:0, %r10d
	at	PATCH_CPU_NUMBER
	shl	$CTL_SHIFT, %r10d
	/* This vCPU waits for the host already, or has not seen that it is to come again, and
	 * this is an interrupt: no second call fits. */
	mov	$1, %r11d
	mov	WINDOW_CTL + CTL_CALL(%r10), %eax
	at	PATCH_WINDOW
	test	$PAYLOAD_CALL_BUSY | PAYLOAD_CALL_AGAIN, %al
	jnz	.Lcall_leave
	look_for_host .Lcall_vain
	mov	$PAYLOAD_CALL_FILLING, %eax
	mov	%eax, WINDOW_CTL + CTL_CALL(%r10)
	at	PATCH_WINDOW
	mov	24(%rsp), %eax
	sub	$5, %eax
	mov	%eax, WINDOW_CTL + CTL_CALL_IP(%r10)
	at	PATCH_WINDOW
	lea	32(%rsp), %rax
	mov	%rax, WINDOW_CTL + CTL_CALL_SP(%r10)
	at	PATCH_WINDOW
	mov	%rdi, WINDOW_CTL + CTL_CALL_DI(%r10)
	at	PATCH_WINDOW
	mov	16(%rsp), %rax
	mov	%rax, WINDOW_CTL + CTL_CALL_FL(%r10)
	at	PATCH_WINDOW
	mov	%rbp, WINDOW_CTL + CTL_CALL_BP(%r10)
	at	PATCH_WINDOW
	mov	%gs:0, %r11d
	at	PATCH_PREEMPT_COUNT
	mov	%r11d, WINDOW_CTL + CTL_CALL_PC(%r10)
	at	PATCH_WINDOW
	read_tsc
	mov	%rax, WINDOW_CTL + CTL_CALL_TSC(%r10)
	at	PATCH_WINDOW
	mov	%rax, %r11
	mov	$PAYLOAD_CALL_MADE, %eax
	mov	%eax, WINDOW_CTL + CTL_CALL(%r10)
	at	PATCH_WINDOW
1:	pause
	mov	WINDOW_CTL + CTL_CALL(%r10), %eax
	at	PATCH_WINDOW
	test	$PAYLOAD_CALL_BUSY, %al
	jz	.Lanswered
	until_timeout 1b
	mov	$PAYLOAD_CALL_MADE, %eax
	xor	%edx, %edx /* PAYLOAD_CALL_NONE */
	lock cmpxchg %edx, WINDOW_CTL + CTL_CALL(%r10)
	at	PATCH_WINDOW
	je	.Lcall_vain
	/* The host is at it: give it as long again. */
	read_tsc
	mov	%rax, %r11
2:	pause
	mov	WINDOW_CTL + CTL_CALL(%r10), %eax
	at	PATCH_WINDOW
	test	$PAYLOAD_CALL_BUSY, %al
	jz	.Lanswered
	until_timeout 2b
	xor	%eax, %eax
.Lanswered:
	mov	%eax, %r11d
	xor	%eax, %eax /* PAYLOAD_CALL_NONE */
	mov	%eax, WINDOW_CTL + CTL_CALL(%r10)
	at	PATCH_WINDOW
	and	$PAYLOAD_CALL_AGAIN, %r11d
.Lcall_leave:
	pop	%rdx
	pop	%rax
	lea	8(%rsp), %rsp
	holds	0
	/* Not decl, which leaves carry alone: that is work where it is translated. */
	subl	$1, %gs:0
	at	PATCH_PREEMPT_COUNT, 4, 1
1:	cmp	$PAYLOAD_CALL_AGAIN, %r11d
	je	2f
	ret
	/* The task sleeps, and comes back to the site. */
2:	subq	$5, (%rsp)
	mov	$PAYLOAD_AGAIN_MS, %edi
	kernel_jump PATCH_MSLEEP
	edge	1b
.Lcall_vain:
	holds	3
	incl	WINDOW_CTL + CTL_CALL_VAIN(%r10)
	at	PATCH_WINDOW
	mov	$1, %r11d
	jmp	.Lcall_leave

/*
 * --- mutex_lock(): where text_mutex is locked ------------------------------------------------
 *
 * By others than those who patch nothing of ours: static keys are switched all the time, and each
 * call to the host holds the guest up.
 */

/* Jump to `harmless` if one of WINDOW_LOCKERS is who has called. */
	.macro	look_for_locker harmless
	xor	%r10d, %r10d
1:	mov	8(%rsp), %r11d
	sub	WINDOW_LOCKERS + LOCKER_ADDRESS(%r10), %r11d
	at	PATCH_WINDOW
	cmp	WINDOW_LOCKERS + LOCKER_BYTES(%r10), %r11d
	at	PATCH_WINDOW
	jb	\harmless
	add	$LOCKER_SIZE, %r10d
	cmp	$LOCKERS * LOCKER_SIZE, %r10d
	jb	1b
	.endm

	.globl	payload_lock
payload_lock:
	holds	0
	cmp	$IMM32, %rdi
	at	PATCH_TEXT_MUTEX
	je	2f
.Llock_return:
	ret
2:	look_for_locker .Llock_return
	jmp	.Lcall
	.globl	payload_lock_record
payload_lock_record:
	cmp	$IMM32, %rdi
	at	PATCH_TEXT_MUTEX
	jne	.Lfunction
	look_for_locker .Lfunction
	jmp	.Lcall
	edge	payload_lock

/*
 * --- the call of a function whose stack the host is to look at ----------------------------------
 *
 * A call to the host if the call would be recorded. It is only recorded, without a stack, when this
 * vCPU waits for the host already, and in an interrupt when there have been too many.
 */

	.globl	payload_stack
payload_stack:
	mov	%gs:0, %r10d
	at	PATCH_CPU_NUMBER
	shl	$CTL_SHIFT, %r10d
	mov	WINDOW_CTL + CTL_FLAGS(%r10), %r11d
	at	PATCH_WINDOW
	test	$CTL_FL_ON, %r11b
	jz	.Lstack_return
	testb	$PAYLOAD_CALL_BUSY | PAYLOAD_CALL_AGAIN, WINDOW_CTL + CTL_CALL(%r10)
	at	PATCH_WINDOW, 4, 1
	jnz	.Lfunction
	mov	WINDOW_CTL + CTL_NO_WAIT(%r10), %r10d
	at	PATCH_WINDOW
	test	%r10d, %r10d
	jz	1f
	testl	$INTERRUPT_COUNT_MASK, %gs:0
	at	PATCH_PREEMPT_COUNT, 4, 4
	jnz	.Lfunction
1:	test	$CTL_FL_PIDS, %r11b
	jz	.Lcall
	mov	%gs:0, %r10
	at	PATCH_CURRENT_TASK
	{disp32} mov 0(%r10), %r10d
	at	PATCH_PID
	and	$RECORD_PID_MASK, %r10d
	bt	%r10, WINDOW_PIDS
	at	PATCH_WINDOW
	jc	.Lcall
.Lstack_return:
	ret
	edge	payload_stack
