/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * function.S - the part of the payload that records the call of a function, and what all parts ask
 * before they record: whether this is wanted, and whether there is room. payload.S includes it.
 *
 * The record of a call is what there is most of: the common path is one compare long, and .Lcheck
 * finds out what is the matter where that fails.
 */

	/*
	 * Where no record may be lost: go to `full` if there is no room for one. %rax offset of
	 * control block; \tmp is changed.
	 */
	.macro	room_look tmp, full
.Llook\@:
	mov	WINDOW_CTL + CTL_HEAD(%rax), \tmp
	at	PATCH_WINDOW
	sub	WINDOW_CTL + CTL_TAIL(%rax), \tmp
	at	PATCH_WINDOW
	cmp	$IMM32, \tmp
	at	PATCH_RING_FULL
	jae	\full
	only_with PATCH_FULL_TIMEOUT, .Llook\@
	.endm

	/*
	 * Another turn of a wait for room: go to `again`, with carry, unless it has taken
	 * full_timeout. \sum is how long it was, \last when that was; both 0 at first. However long
	 * a turn was, it counts for a small part of the whole: the vCPU has not run, and perhaps
	 * the host has paused it and could not make room meanwhile. %rax and %rdx are changed.
	 */
	.macro	wait_again sum, last, again
	read_tsc
	test	\last, \last
	cmovz	%rax, \last
	mov	%rax, %rdx
	sub	\last, %rdx
	mov	%rax, \last
	movabs	$0, %rax
	at	PATCH_FULL_TIMEOUT, 8
	shr	$FULL_TURN_SHIFT, %rax
	cmp	%rax, %rdx
	cmova	%rax, %rdx
	add	%rdx, \sum
	shl	$FULL_TURN_SHIFT, %rax
	cmp	%rax, \sum
	jb	\again
	.endm

	.globl	payload_function
payload_function:
	site_of	FRAME_BARE
.Lfunction:
	/*
	 * Raised by storing its lowest byte, which an interrupt leaves as it has found it; so it
	 * need not be read again to be lowered. A task that is preempted and moved before the store
	 * has the same in that byte on its next vCPU.
	 */
	mov	%gs:0, %r10d
	at	PATCH_PREEMPT_COUNT
	lea	1(%r10), %rax
	mov	%al, %gs:0
	at	PATCH_PREEMPT_COUNT
	edge	payload_function
.Lraised:
	/*
	 * Flags that are known need not be worked out. Both in one place of the stack, which need
	 * not be moved twice.
	 */
	xor	%r11d, %r11d
	pushf
	mov	(%rsp), %eax
	mov	%rdx, (%rsp)
	mov	%gs:0, %rdx
	at	PATCH_CURRENT_TASK
1:	{disp32} mov 0(%rdx), %r11d
	at	PATCH_TASK_FLAGS
	rol	$0, %r11d
	at	PATCH_NEED_RESCHED, 1
	and	$STATE_NEED_RESCHED, %r11d
	lea	(%r10, %r11), %r10
	only_with PATCH_TASK_FLAGS, 1b
	shl	$STATE_IRQS_OFF_SHIFT - RFLAGS_IF_SHIFT, %rax
	not	%rax
	and	$STATE_IRQS_OFF, %eax
	lea	PAYLOAD_FUNCTION << STATE_TYPE_SHIFT(%r10, %rax), %r10
	mov	%gs:0, %eax
	at	PATCH_CPU_NUMBER
	{disp32} mov 0(%rdx), %r11d
	at	PATCH_PID
1:	{disp32} movzwl 0(%rdx), %edx
	at	PATCH_MIGRATION_DISABLED
	only_with PATCH_MIGRATION_DISABLED, 1b
	shl	$CTL_SHIFT, %rax
	shl	$32, %r11
1:	shl	$32 + RECORD_MIGRATE_SHIFT, %rdx
	or	%rdx, %r11
	only_with PATCH_MIGRATION_DISABLED, 1b
	/*
	 * CTL_FLAGS and CTL_LAST_PID in one: on, nothing else, the pid is the latest one's, and its
	 * task may be moved to other vCPUs.
	 */
	lea	CTL_FL_ON(%r11), %r11
	cmp	WINDOW_CTL + CTL_FLAGS(%rax), %r11
	at	PATCH_WINDOW
	jne	.Lunusual
	room_look %rdx, .Lunusual
.Lrecord:
	/* %r10 state, %r11 RECORD_TASK << 32 | CTL_FL_ON, %rax offset of control block */
	mov	$1, %edx
	xadd	%rdx, WINDOW_CTL + CTL_HEAD(%rax)
	at	PATCH_WINDOW
	shl	$0, %rax
	at	PATCH_RING_SHIFT, 1
	shl	$32, %rdx
	or	%rdx, %r10
	shr	$32 - PAYLOAD_RECORD_SHIFT, %rdx
	and	$IMM32, %edx
	at	PATCH_RING_MASK
	lea	(%rax, %rdx), %rdx
	lea	(%r11, %rdx), %r11
	/*
	 * %r10 state and number, %r11 task << 32 | the record's place behind WINDOW_RINGS and
	 * CTL_FL_ON. All stores to the record come behind the time: reading it drains the store
	 * buffer where it is emulated, and the record's cache line is most likely not here yet.
	 */
	read_tsc
	mov	%r11d, %edx
	sub	%rdx, %r11
	mov	%rax, WINDOW_RINGS - CTL_FL_ON + RECORD_TSC(%rdx)
	at	PATCH_WINDOW
	lea	16(%rsp), %eax
	lea	(%r11, %rax), %r11
	mov	%r11, WINDOW_RINGS - CTL_FL_ON + RECORD_SP(%rdx)
	at	PATCH_WINDOW
	mov	16(%rsp), %r11
	mov	8(%rsp), %eax
	shl	$32, %r11
	or	%rax, %r11
	lea	-5(%r11), %r11
	mov	%r11, WINDOW_RINGS - CTL_FL_ON + RECORD_IP(%rdx)
	at	PATCH_WINDOW
	mov	%r10, WINDOW_RINGS - CTL_FL_ON + RECORD_STATE(%rdx)
	at	PATCH_WINDOW
.Lleave:
	pop	%rdx
	/* A reschedule that has become due meanwhile waits for the next occasion. */
	mov	%r10b, %gs:0
	at	PATCH_PREEMPT_COUNT
1:	ret
	edge	1b

.Lunusual:
	holds	1
	call	.Lcheck
	jc	.Lleave
	jmp	.Lrecord

/* The same for an event, which may be of any task. */
.Lcheck_event:
	holds	0
	push	%rcx
	mov	WINDOW_CTL + CTL_FLAGS(%rax), %ecx
	at	PATCH_WINDOW
	push	%rsi
	mov	%r11, %rsi
	shr	$32, %rsi
	jmp	.Lwanted

/*
 * Tracing is off, or only some tasks are traced, or there is no room, or this is another task than
 * the one before. Gives carry when there is to be no record; all else is kept.
 */
.Lcheck:
	holds	0
	push	%rcx
	mov	WINDOW_CTL + CTL_FLAGS(%rax), %ecx
	at	PATCH_WINDOW
	test	$CTL_FL_ON, %cl
	jz	.Lskip
	push	%rsi
	mov	%r11, %rsi
	shr	$32, %rsi
	and	$RECORD_PID_MASK, %esi
	test	$CTL_FL_PIDS, %cl
	jz	.Lwanted
	bt	%rsi, WINDOW_PIDS
	at	PATCH_WINDOW
	jnc	.Lskip_rsi
.Lwanted:
	room_look %rcx, .Lfull
.Lroom:
	cmp	WINDOW_CTL + CTL_LAST_PID(%rax), %esi
	at	PATCH_WINDOW
	jne	.Lother_task
.Lusual:
	pop	%rsi
	pop	%rcx
	clc
	ret

.Ldrop:
	holds	2
	incq	WINDOW_CTL + CTL_DROPPED(%rax)
	at	PATCH_WINDOW
.Lskip_rsi:
	pop	%rsi
.Lskip:
	pop	%rcx
	stc
	ret

/*
 * Wait for room, but not where that was in vain and the host has taken nothing since: so a host
 * that has died costs each vCPU one full_timeout.
 */
.Lfull:
	holds	2
	mov	WINDOW_CTL + CTL_TAIL(%rax), %rcx
	at	PATCH_WINDOW
	cmp	%rcx, WINDOW_CTL + CTL_FULL_TAIL(%rax)
	at	PATCH_WINDOW
	je	.Ldrop
	push	%rdx
	push	%rdi
	push	%rsi
	push	%r8
	mov	%rax, %rcx
	xor	%edi, %edi
	xor	%r8d, %r8d
1:	pause
	mov	WINDOW_CTL + CTL_HEAD(%rcx), %rax
	at	PATCH_WINDOW
	mov	WINDOW_CTL + CTL_TAIL(%rcx), %rsi
	at	PATCH_WINDOW
	sub	%rsi, %rax
	cmp	$IMM32, %rax
	at	PATCH_RING_FULL
	jb	2f
	wait_again %rdi, %r8, 1b
	mov	%rsi, WINDOW_CTL + CTL_FULL_TAIL(%rcx)
	at	PATCH_WINDOW
2:	mov	%rcx, %rax
	pop	%r8
	pop	%rsi
	pop	%rdi
	pop	%rdx
	/* Carry: of the first compare, there is room; of the second it has not got here. */
	jc	.Lroom
	jmp	.Ldrop

/* %esi is the pid of a task that the host may not know. */
.Lother_task:
	holds	2
	push	%rdi
	push	%rdx
	mov	$1, %edx
	xadd	%rdx, WINDOW_CTL + CTL_HEAD(%rax)
	at	PATCH_WINDOW
	mov	%edx, %edi
	shl	$PAYLOAD_RECORD_SHIFT, %rdi
	and	$IMM32, %edi
	at	PATCH_RING_MASK
	mov	%rax, %rcx
	shl	$0, %rcx
	at	PATCH_RING_SHIFT, 1
	lea	WINDOW_RINGS(%rcx, %rdi), %rdi
	at	PATCH_WINDOW
	shl	$32, %rdx
	or	$PAYLOAD_COMM << STATE_TYPE_SHIFT, %rdx
	push	%rdx
	mov	%gs:0, %rdx
	at	PATCH_CURRENT_TASK
	mov	%esi, RECORD_COMM_PID(%rdi)
	xor	%ecx, %ecx
1:	{disp32} mov 0(%rdx), %ecx
	at	PATCH_TGID
	only_with PATCH_TGID, 1b
	mov	%ecx, RECORD_COMM_TGID(%rdi)
	xor	%ecx, %ecx
1:	{disp32} mov 0(%rdx), %rcx
	at	PATCH_COMM
	only_with PATCH_COMM, 1b
	mov	%rcx, RECORD_COMM_NAME(%rdi)
	xor	%ecx, %ecx
1:	{disp32} mov 8(%rdx), %rcx
	at	PATCH_COMM
	only_with PATCH_COMM, 1b
	mov	%rcx, RECORD_COMM_NAME + 8(%rdi)
	pop	%rdx
	mov	%rdx, RECORD_STATE(%rdi)
	/* Only now: an interrupt before this sends one of its own, ahead of its records. */
	mov	%esi, WINDOW_CTL + CTL_LAST_PID(%rax)
	at	PATCH_WINDOW
	pop	%rdx
	pop	%rdi
	jmp	.Lusual
