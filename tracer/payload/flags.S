/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * flags.S - the part of the payload that is called where interrupts are switched off or on; it
 * measures for how long they are off (payload.h, CTL_CRITICAL). payload.S includes it.
 *
 * Which sites call which entry: probe/critical/sites.c. All of this but a few instructions at the ends runs
 * with interrupts off, so no task is preempted in it and the vCPU stays the same. The time is taken
 * last at a beginning and first at an end, so this code is not measured.
 *
 * Most windows are too short to be of interest: they are told from the others here, and only those
 * become records.
 */

/* Offsets in struct pt_regs (arch/x86/include/uapi/asm/ptrace-abi.h) */
#define REGS_CS	   0x88
#define REGS_FLAGS 0x90

#define CRITICAL_COUNT_MASK 0x7fffffff /* of preempt_count, without the bit of rescheduling */

/* The site is cli or sti and a NOP, of six bytes together. */
#define EDGE_REDO_FLAG	 (EDGE_REDO|EDGE_SITE(6))
#define EDGE_REDO_PUSHED (EDGE_REDO_FLAG|EDGE_PUSHED(1))

#define OPEN (WINDOW_CTL + CTL_OPEN)

/*
 * Interrupts have been switched off: a window begins, unless it is one of both kinds and the task
 * could not be preempted before. `above` bytes lie above the site's end. Changes %rax and the
 * arithmetic flags; and %rcx, %rdx and %rsi, unless they are to be kept: where a function is called or
 * returns, its caller has nothing in the first two.
 */
	.macro	irqs_go_off above=0, keep=1
	.if	\keep
	push	%rcx
	push	%rdx
	push	%rsi
	.endif
	mov	%gs:0, %eax
	at	PATCH_CPU_NUMBER
	shl	$CTL_SHIFT, %eax
	mov	%gs:0, %edx
	at	PATCH_PREEMPT_COUNT
	mov	WINDOW_CTL + CTL_CRITICAL(%rax), %esi
	at	PATCH_WINDOW
	and	$CRITICAL_IRQS | CRITICAL_PREEMPT, %esi
	cmp	$CRITICAL_IRQS, %esi
	je	.Lbegins\@
	cmp	$CRITICAL_IRQS | CRITICAL_PREEMPT, %esi
	jne	.Lbegun\@
	test	$CRITICAL_COUNT_MASK, %edx
	jnz	.Lbegun\@
.Lbegins\@:
	window_begins PAYLOAD_IRQS_OFF, \above+24*\keep
.Lbegun\@:
	.if	\keep
	pop	%rsi
	pop	%rdx
	pop	%rcx
	.endif
	.endm

/*
 * %rax offset of control block, %edx preempt_count; `above` bytes lie above the site's end. Changes
 * %rcx, %rdx and %rsi. Where interrupts are on, the caller has taken STATE_IRQS_OFF, which is added
 * here, off %edx.
 */
	.macro	window_begins type, above
	mov	%gs:0, %rcx
	at	PATCH_CURRENT_TASK
	add_need_resched %rcx, %esi, %edx
	add	$STATE_IRQS_OFF | (\type << STATE_TYPE_SHIFT), %edx
	mov	%edx, OPEN + RECORD_STATE(%rax)
	at	PATCH_WINDOW
	{disp32} mov 0(%rcx), %esi
	at	PATCH_PID
1:	{disp32} movzwl 0(%rcx), %edx
	at	PATCH_MIGRATION_DISABLED
	only_with PATCH_MIGRATION_DISABLED, 1b
	cmp	WINDOW_CTL + CTL_LAST_PID(%rax), %esi
	at	PATCH_WINDOW
	je	.Lknown\@
	call	.Lcritical_task
.Lknown\@:
1:	shl	$RECORD_MIGRATE_SHIFT, %rdx
	or	%rdx, %rsi
	only_with PATCH_MIGRATION_DISABLED, 1b
	lea	8 + \above(%rsp), %edx
	shl	$32, %rsi
	or	%rsi, %rdx /* RECORD_TASK with it */
	mov	%rdx, OPEN + RECORD_SP(%rax)
	at	PATCH_WINDOW
	mov	\above(%rsp), %edx
	lea	-5(%rdx), %edx
	mov	%rdx, OPEN + RECORD_IP(%rax)
	at	PATCH_WINDOW
	mov	%rax, %rcx
	read_tsc
	mov	%rax, OPEN + RECORD_TSC(%rcx)
	at	PATCH_WINDOW
	.endm

/*
 * Interrupts are about to be switched on: the window ends, if one is open, unless it is one of both
 * kinds and the task still cannot be preempted. As above; with `regs`, struct pt_regs lies above
 * the site's end; with `always` it ends all the same.
 */
	.macro	irqs_go_on regs=0, always=0, above=0, keep=1
	.if	\keep
	push	%rcx
	push	%rdx
	.endif
	read_tsc
	mov	%gs:0, %ecx
	at	PATCH_CPU_NUMBER
	shl	$CTL_SHIFT, %ecx
	mov	OPEN + RECORD_TSC(%rcx), %rdx
	at	PATCH_WINDOW
	test	%rdx, %rdx
	jz	.Lended\@
	.if	!\always
	testb	$CRITICAL_PREEMPT, WINDOW_CTL + CTL_CRITICAL(%rcx)
	at	PATCH_WINDOW, 4, 1
	jz	.Lends\@
	testl	$CRITICAL_COUNT_MASK, %gs:0
	at	PATCH_PREEMPT_COUNT, 4, 4
	jnz	.Lended\@
	.endif
.Lends\@:
	window_ends PAYLOAD_IRQS_ON, .Lended\@, \regs, \above+16*\keep
.Lended\@:
	.if	\keep
	pop	%rdx
	pop	%rcx
	.endif
	.endm

/*
 * %rcx offset of control block, %rax the time, %rdx that of the beginning; `above` bytes lie above
 * the site's end. Interrupts are off, or rflags is `flags` bytes up the stack.
 */
	.macro	window_ends type, short, regs=0, above, flags
	movq	$0, OPEN + RECORD_TSC(%rcx)
	at	PATCH_WINDOW, 4, 4
	sub	%rax, %rdx
	neg	%rdx
	cmp	WINDOW_CTL + CTL_CRITICAL_MIN(%rcx), %rdx
	at	PATCH_WINDOW
	jb	\short
	push	%rdi
	push	%rsi
	lea	16 + \above(%rsp), %rdi
	.ifb	\flags
	mov	$STATE_IRQS_OFF | (\type << STATE_TYPE_SHIFT), %esi
	.else
	mov	16 + \flags(%rsp), %esi
	and	$RFLAGS_IF, %esi
	shl	$STATE_IRQS_OFF_SHIFT - RFLAGS_IF_SHIFT, %esi
	neg	%esi
	add	$STATE_IRQS_OFF | (\type << STATE_TYPE_SHIFT), %esi
	.endif
	.if	\regs
	mov	8 + REGS_CS(%rdi), %r8d
	and	$3, %r8d
	or	%r8d, %esi
	.endif
	call	.Lcritical_window
	pop	%rsi
	pop	%rdi
	.endm

/* cli, with what is left of the site: callers keep nothing in %rax (PVOP_VCALLEE_CLOBBERS). */
	.globl	payload_cli
payload_cli:
	holds	0
	pushf
	edge	payload_cli, EDGE_REDO_FLAG
1:	pop	%rax
	edge	1b, EDGE_REDO_PUSHED
1:	cli
	edge	1b, EDGE_REDO_FLAG
	test	$RFLAGS_IF, %eax
	jz	.Lcli_over
	irqs_go_off
.Lcli_over:
	ret

/* sti, likewise. No interrupt comes before its return is over. */
	.globl	payload_sti
payload_sti:
	pushf
	edge	payload_sti, EDGE_REDO_FLAG
1:	pop	%rax
	edge	1b, EDGE_REDO_PUSHED
1:	test	$RFLAGS_IF, %eax
	jz	.Lsti
	ret
	edge	1b, EDGE_REDO_FLAG
.Lsti:
	irqs_go_on
	sti
	ret

/*
 * The same where the instruction has moved into the window with its neighbours (MOVED_), for it has
 * no room for a call: its compiler may have anything in any register, and in the flags. Nothing is
 * interrupted here once something has been done.
 */
	.globl	payload_moved_cli
payload_moved_cli:
	pushf
	edge	payload_moved_cli, EDGE_REDO
1:	cli
	edge	1b, EDGE_REDO|EDGE_PUSHED(1)
	testl	$RFLAGS_IF, (%rsp)
	jz	2f
	push	%rax
	irqs_go_off above=16
	pop	%rax
	andl	$~RFLAGS_IF, (%rsp)
2:	popf
	ret

/* No interrupt comes before its return is over, as behind the sti that it stands for. */
	.globl	payload_moved_sti
payload_moved_sti:
	pushf
	edge	payload_moved_sti, EDGE_REDO
1:	cli
	edge	1b, EDGE_REDO|EDGE_PUSHED(1)
	testl	$RFLAGS_IF, (%rsp)
	jnz	2f
	push	%rax
	irqs_go_on above=16
	pop	%rax
	popf
	sti
	ret
2:	holds	1
	popf /* they have been on before */
3:	ret
	edge	3b

/*
 * Soon behind a cli or sti that has no room and cannot move: what has come of it, which is what has
 * begun or ended unless that is known. In an NMI they are off, and that ends unseen.
 */
	.globl	payload_moved_look
payload_moved_look:
	pushf
	edge	payload_moved_look, EDGE_REDO
1:	cli
	edge	1b, EDGE_REDO|EDGE_PUSHED(1)
	push	%rax
	testl	$RFLAGS_IF, 8(%rsp)
	jz	2f
	irqs_go_on above=16
	jmp	3f
2:	testl	$NMI_COUNT_MASK, %gs:0
	at	PATCH_PREEMPT_COUNT, 4, 4
	jnz	3f
	mov	%gs:0, %eax
	at	PATCH_CPU_NUMBER
	shl	$CTL_SHIFT, %eax
	cmpq	$0, OPEN + RECORD_TSC(%rax)
	at	PATCH_WINDOW, 4, 1
	jne	3f
	irqs_go_off above=16
3:	pop	%rax
	popf
4:	ret
	edge	4b

/*
 * In front of a return to user mode, which itself has moved; and of the call of trace_hardirqs_on(),
 * which a sti comes behind that has no room: there interrupts may be on already.
 */
	.globl	payload_moved_exit
payload_moved_exit:
	pushf
	edge	payload_moved_exit, EDGE_REDO
1:	cli
	edge	1b, EDGE_REDO|EDGE_PUSHED(1)
	push	%rax
	irqs_go_on above=16
	pop	%rax
	popf
2:	ret
	edge	2b

/*
 * The call of irqentry_enter(regs), by an interrupt or an exception. What is open where they have
 * been on ended at a place that is not seen, or is about to be looked at.
 */
	.globl	payload_irq_entry
payload_irq_entry:
	testl	$RFLAGS_IF, REGS_FLAGS(%rdi)
	jz	.Lirqentry_enter
	irqs_go_on keep=0
	irqs_go_off keep=0
.Lirqentry_enter:
	kernel_jump PATCH_IRQENTRY_ENTER

/* The call of do_syscall_64(), from user mode. */
	.globl	payload_syscall_entry
payload_syscall_entry:
	mov	%rsi, %r8
	irqs_go_off keep=0
	mov	%r8, %rsi
	kernel_jump PATCH_DO_SYSCALL

/*
 * The way out of interrupts and exceptions, in the place of `testb $3, CS(%rsp)`: struct pt_regs is
 * on the stack, to be loaded from there. Interrupts are off until the iret.
 */
	.globl	payload_irq_exit
payload_irq_exit:
	testl	$RFLAGS_IF, 8 + REGS_FLAGS(%rsp)
	jz	.Lirq_exit_test
	irqs_go_on regs=1, keep=0
.Lirq_exit_test:
	testb	$3, 8 + REGS_CS(%rsp)
	ret

/* The return of syscall_exit_to_user_mode(): user mode is near. */
	.globl	payload_user_exit
payload_user_exit:
	site_of	FRAME_BARE
	irqs_go_on keep=0
	lea	8(%rsp), %rsp
	site_of	FRAME_OTHER
	kernel_return

/*
 * The call of ct_idle_enter(): from here on a vCPU waits for interrupts, however it does that. Any
 * window ends, as in stop_critical_timings().
 */
	.globl	payload_idle
payload_idle:
	irqs_go_on always=1, keep=0
	kernel_jump PATCH_IDLE_ENTER

/* %esi is a pid that the host may not know, %rax the offset of the control block. */
.Lcritical_task:
	push	%r11
	mov	%esi, %r11d
	shl	$32, %r11
	call	.Lcheck
	pop	%r11
	ret

/*
 * A window is to be recorded: %rcx offset of the control block, %rax when it ended, %rdx for how
 * long it was, %esi state without preempt_count, plus what the record's RECORD_PARENT is to be;
 * (%rdi) the site's end. Changes %rax, %rcx, %rdx and %rsi.
 */
.Lcritical_window:
	push	%r8
	push	%r9
	push	%r10
	push	%r11
	mov	%rax, %r8
	mov	%rax, %r9
	sub	%rdx, %r9
	testb	$CRITICAL_RISES, WINDOW_CTL + CTL_CRITICAL(%rcx)
	at	PATCH_WINDOW, 4, 1
	jz	.Lcritical_task_look
	add	$1, %rdx
	mov	%rdx, WINDOW_CTL + CTL_CRITICAL_MIN(%rcx)
	at	PATCH_WINDOW
.Lcritical_task_look:
	mov	%gs:0, %rdx
	at	PATCH_CURRENT_TASK
	mov	%gs:0, %r10d
	at	PATCH_PREEMPT_COUNT
	add_need_resched %rdx, %eax, %r10d
	{disp32} mov 0(%rdx), %r11d
	at	PATCH_PID
	mov	%rcx, %rax
	shl	$32, %r11
	add	$CTL_FL_ON, %r11
	cmp	WINDOW_CTL + CTL_FLAGS(%rax), %r11
	at	PATCH_WINDOW
1:	jmp	3f /* which looks for room, too */
	only_with PATCH_FULL_TIMEOUT, 1b
	je	2f
3:	call	.Lcheck
	jc	.Lcritical_done
2:
1:	{disp32} movzwl 0(%rdx), %edx
	at	PATCH_MIGRATION_DISABLED
	shl	$32 + RECORD_MIGRATE_SHIFT, %rdx
	or	%rdx, %r11
	only_with PATCH_MIGRATION_DISABLED, 1b
	/* Both numbers at once, so that nothing comes in between. */
	mov	$2, %edx
	xadd	%rdx, WINDOW_CTL + CTL_HEAD(%rcx)
	at	PATCH_WINDOW
	shl	$0, %rax
	at	PATCH_RING_SHIFT, 1
	push	%rsi
	mov	%edx, %esi
	shl	$PAYLOAD_RECORD_SHIFT, %rsi
	and	$IMM32, %esi
	at	PATCH_RING_MASK
	add	%rax, %rsi
	mov	%r9, WINDOW_RINGS + RECORD_TSC(%rsi)
	at	PATCH_WINDOW
	mov	OPEN + RECORD_IP(%rcx), %r9
	at	PATCH_WINDOW
	mov	%r9, WINDOW_RINGS + RECORD_IP(%rsi)
	at	PATCH_WINDOW
	mov	OPEN + RECORD_SP(%rcx), %r9
	at	PATCH_WINDOW
	mov	%r9, WINDOW_RINGS + RECORD_SP(%rsi)
	at	PATCH_WINDOW
	mov	OPEN + RECORD_STATE(%rcx), %r9d
	at	PATCH_WINDOW
	mov	%r9d, WINDOW_RINGS + RECORD_STATE(%rsi)
	at	PATCH_WINDOW
	mov	%edx, WINDOW_RINGS + RECORD_SEQ(%rsi)
	at	PATCH_WINDOW
	add	$1, %edx
	mov	%edx, %esi
	shl	$PAYLOAD_RECORD_SHIFT, %rsi
	and	$IMM32, %esi
	at	PATCH_RING_MASK
	add	%rax, %rsi
	mov	%r8, WINDOW_RINGS + RECORD_TSC(%rsi)
	at	PATCH_WINDOW
	pop	%r8
	mov	%r8d, %r9d
	and	$3, %r8d
	sub	%r8d, %r9d
	add	%r9d, %r10d
	shl	$32, %r8
	mov	(%rdi), %eax
	lea	-5(%rax), %eax
	or	%rax, %r8
	mov	%r8, WINDOW_RINGS + RECORD_IP(%rsi)
	at	PATCH_WINDOW
	lea	8(%rdi), %eax
	mov	%eax, WINDOW_RINGS + RECORD_SP(%rsi)
	at	PATCH_WINDOW
	shr	$32, %r11
	mov	%r11d, WINDOW_RINGS + RECORD_TASK(%rsi)
	at	PATCH_WINDOW
	testb	$CRITICAL_STACK | CRITICAL_COPY, WINDOW_CTL + CTL_CRITICAL(%rcx)
	at	PATCH_WINDOW, 4, 1
	jz	.Lcritical_complete
	testb	$CRITICAL_COPY, WINDOW_CTL + CTL_CRITICAL(%rcx)
	at	PATCH_WINDOW, 4, 1
	jnz	.Lcritical_longest
.Lcritical_ask:
	/* One that has waited for a host in vain waits no more: with interrupts off it is too long. */
	cmpl	$0, WINDOW_CTL + CTL_CALL_VAIN(%rcx)
	at	PATCH_WINDOW, 4, 1
	jne	.Lcritical_complete
	push	%rdi
	push	%r10
	shl	$32, %rax
	lea	(%rax, %rdx), %rdi
	call	.Lcall
	pop	%r10
	pop	%rdi
.Lcritical_complete:
	mov	%r10d, WINDOW_RINGS + RECORD_STATE(%rsi)
	at	PATCH_WINDOW
	mov	%edx, WINDOW_RINGS + RECORD_SEQ(%rsi)
	at	PATCH_WINDOW
.Lcritical_done:
	pop	%r11
	pop	%r10
	pop	%r9
	pop	%r8
	ret
