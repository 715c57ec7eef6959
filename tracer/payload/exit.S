/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * exit.S - the part of the payload that takes the place of returns, and records them; payload.S
 * includes it, behind function.S.
 *
 * What has been called goes on at 8(%rsp), the way that the kernel would have taken. The record has
 * no parent: its bits are all ones.
 */

/* The kernel's own return: a plain one, or a jump to where it makes returns safe. */
	.macro	kernel_return
	ret
	.skip	4, 0xcc
	at	PATCH_RETURN, 5
	.endm

/* Whether the task is to be rescheduled, added to a record's state; changes \tmp. */
	.macro	add_need_resched task, tmp, state
.Lflags\@:
	{disp32} mov 0(\task), \tmp
	at	PATCH_TASK_FLAGS
	rol	$0, \tmp
	at	PATCH_NEED_RESCHED, 1
	and	$STATE_NEED_RESCHED, \tmp
	add	\tmp, \state
	only_with PATCH_TASK_FLAGS, .Lflags\@
	.endm

/*
 * preempt_count before is in %r10d, all registers may be changed. Goes to `unusual` and waits to be
 * sent back, or on. `sp`: how far above %rsp the function's return address is.
 */
	.macro	exit_look unusual
	mov	%gs:0, %rcx
	at	PATCH_CURRENT_TASK
	add_need_resched %rcx, %esi, %r10d
	{disp32} mov 0(%rcx), %r11d
	at	PATCH_PID
	{disp32} movzwl 0(%rcx), %edi
	at	PATCH_MIGRATION_DISABLED
	mov	%gs:0, %eax
	at	PATCH_CPU_NUMBER
	shl	$CTL_SHIFT, %eax
	shl	$32, %r11
	add	$CTL_FL_ON, %r11
	cmp	WINDOW_CTL + CTL_FLAGS(%rax), %r11
	at	PATCH_WINDOW
	jne	\unusual
	room_look %rsi, \unusual
	.endm

/*
 * %rax, %rdi, %r10d, %r11 as exit_look leaves them, %rdx rflags, %rcx the site's end. Changes these
 * and %rsi.
 */
	.macro	exit_record sp
1:	shl	$32 + RECORD_MIGRATE_SHIFT, %rdi
	add	%rdi, %r11
	only_with PATCH_MIGRATION_DISABLED, 1b
	lea	\sp - CTL_FL_ON(%rsp), %esi
	add	%rsi, %r11
	and	$RFLAGS_IF, %edx
	shl	$STATE_IRQS_OFF_SHIFT - RFLAGS_IF_SHIFT, %edx
	lea	STATE_IRQS_OFF + (PAYLOAD_EXIT << STATE_TYPE_SHIFT)(%r10), %r10d
	sub	%edx, %r10d
	mov	$1, %esi
	xadd	%rsi, WINDOW_CTL + CTL_HEAD(%rax)
	at	PATCH_WINDOW
	shl	$32, %rsi
	or	%rsi, %r10
	shr	$32 - PAYLOAD_RECORD_SHIFT, %rsi
	and	$IMM32, %esi
	at	PATCH_RING_MASK
	shl	$0, %rax
	at	PATCH_RING_SHIFT, 1
	add	%rax, %rsi
	read_tsc
	mov	%rax, WINDOW_RINGS + RECORD_TSC(%rsi)
	at	PATCH_WINDOW
	mov	%r11, WINDOW_RINGS + RECORD_SP(%rsi)
	at	PATCH_WINDOW
	sub	$5, %rcx
	mov	%rcx, WINDOW_RINGS + RECORD_IP(%rsi)
	at	PATCH_WINDOW
	mov	%r10, WINDOW_RINGS + RECORD_STATE(%rsi)
	at	PATCH_WINDOW
	.endm

/*
 * Of a function that a compiler has made and that can be traced: its caller expects %rax, %rdx and
 * what a function must keep. (Where functions are made to be traced, compilers do not let callers
 * know which of the other registers one happens to leave alone.) %rcx, %rsi, %rdi, %r8 to %r11 and
 * the arithmetic flags are changed.
 */
	.globl	payload_exit
payload_exit:
	site_of	FRAME_BARE
	/* As at a function's start. Anything wider would wait for its byte to be stored. */
	mov	%gs:0, %r10d
	at	PATCH_PREEMPT_COUNT
	lea	1(%r10), %rcx
	mov	%cl, %gs:0
	at	PATCH_PREEMPT_COUNT
	edge	payload_exit, EDGE_REDO
	mov	%rax, %r8
	mov	%rdx, %r9
	exit_look .Lexit_unusual
.Lexit_record:
	pushf
	pop	%rdx
	popq	%rcx
	site_of	FRAME_OTHER /* the function's own return address */
	exit_record 0
.Lexit_leave:
	mov	%r8, %rax
	mov	%r9, %rdx
	mov	%r10b, %gs:0
	at	PATCH_PREEMPT_COUNT
1:	kernel_return
	edge	1b

.Lexit_unusual:
	site_of	FRAME_BARE
	call	.Lcheck
	jnc	.Lexit_record
	lea	8(%rsp), %rsp
	site_of	FRAME_OTHER
	jmp	.Lexit_leave

/*
 * Of one that may be in assembly, and that a compiler's function ends by jumping to: so it is a
 * function like others, whose flags mean nothing when it returns. But inline assembly may call it
 * too and count on any register that it leaves alone. The arithmetic flags are changed.
 */
	.globl	payload_exit_all
payload_exit_all:
	site_of	FRAME_BARE
	incl	%gs:0
	at	PATCH_PREEMPT_COUNT
	edge	payload_exit_all, EDGE_REDO
	push	%rax
	push	%rcx
	push	%rdx
	push	%rsi
	push	%rdi
	push	%r10
	push	%r11
	mov	%gs:0, %r10d
	at	PATCH_PREEMPT_COUNT
	sub	$1, %r10d
	exit_look .Lexit_all_unusual
.Lexit_all_record:
	pushf
	pop	%rdx
	mov	56(%rsp), %rcx
	exit_record 64
.Lexit_all_leave:
	pop	%r11
	pop	%r10
	pop	%rdi
	pop	%rsi
	pop	%rdx
	pop	%rcx
	pop	%rax
	lea	8(%rsp), %rsp
	site_of	FRAME_OTHER
	subl	$1, %gs:0
	at	PATCH_PREEMPT_COUNT, 4, 1
1:	kernel_return
	edge	1b

.Lexit_all_unusual:
	site_of	FRAME_BARE
	holds	7
	call	.Lcheck
	jnc	.Lexit_all_record
	jmp	.Lexit_all_leave
