/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * preempt.S - the part of the payload that takes the place of instructions that change the preempt
 * count; it measures for how long tasks cannot be preempted (payload.h, CTL_CRITICAL). payload.S
 * includes it, behind flags.S.
 *
 * What counts is what preempt_latency_start() and _stop() look for (kernel/sched/core.c, 6.1): the
 * count, of whatever it consists, is no longer zero, or about to become zero. Its top bit, which
 * tells of rescheduling, is left out by adding the count to itself.
 *
 * The sites are everywhere, some of them in the midst of what their compiler has planned. So the
 * registers are kept, and the flags are those that the instruction gives: lea, mov and jrcxz change
 * none. Where it is the first raise or the last lowering, which is most of the time, some more has
 * to be done: then carry is kept aside, and the rest follows from doing the same again.
 */

/* How long the instruction is, whose operand is at %gs:disp(%rip). */
#define CHANGE_BY_ONE  7
#define CHANGE_BY_MORE 11

/* What the site has had: inc and dec of memory, or of a register, leave carry alone. */
	.macro	change_count value
	.if	\value == 1
	incl	%gs:0
	at	PATCH_PREEMPT_COUNT
	.elseif	\value == -1
	decl	%gs:0
	at	PATCH_PREEMPT_COUNT
	.else
	addl	$\value, %gs:0
	at	PATCH_PREEMPT_COUNT, 4, 4
	.endif
	.endm

	.macro	preempt_raise name, value
	.globl	\name
\name:
	holds	0
	change_count \value
	.if	\value == 1
	edge	\name, EDGE_REDO | EDGE_SITE(CHANGE_BY_ONE)
	.else
	edge	\name, EDGE_REDO | EDGE_SITE(CHANGE_BY_MORE)
	.endif
	push	%rcx
	mov	%gs:0, %ecx
	at	PATCH_PREEMPT_COUNT
	lea	-2 * (\value)(%rcx, %rcx), %ecx
	jrcxz	1f
	pop	%rcx
	ret
1:	holds	1
	call	.Lpreempt_off
	mov	%gs:0, %ecx
	at	PATCH_PREEMPT_COUNT
	lea	-(\value)(%rcx), %ecx
	.if	\value == 1
	inc	%ecx
	.else
	add	$\value, %ecx
	.endif
	pop	%rcx
	ret
	.endm

	.macro	preempt_lower name, value
	.globl	\name
\name:
	holds	0
	push	%rcx
	mov	%gs:0, %ecx
	at	PATCH_PREEMPT_COUNT
	lea	2 * (\value)(%rcx, %rcx), %ecx
	jrcxz	3f
1:	pop	%rcx
	change_count \value
2:	ret
	edge	2b
3:	holds	1
	call	.Lpreempt_on
	jmp	1b
	.endm

	/* preempt_disable() and _enable() */
	preempt_raise payload_preempt_inc, 1
	preempt_lower payload_preempt_dec, -1
	/* local_bh_disable(), spin_lock_bh(); their end is that of a preempt_disable() */
	preempt_raise payload_bh_disable, SOFTIRQ_DISABLE_OFFSET
	preempt_raise payload_bh_lock, SOFTIRQ_DISABLE_OFFSET + 1
	preempt_lower payload_bh_enable, -SOFTIRQ_DISABLE_OFFSET
	/* Softirqs are run, an interrupt is handled. */
	preempt_raise payload_softirq_enter, SOFTIRQ_OFFSET
	preempt_lower payload_softirq_exit, -SOFTIRQ_OFFSET
	preempt_raise payload_hardirq_enter, HARDIRQ_OFFSET
	preempt_lower payload_hardirq_exit, -HARDIRQ_OFFSET

/*
 * The count is no longer zero: a window begins, unless it is one of both kinds and interrupts are
 * off already. 16(%rsp) is the site's end. %rcx is changed, carry is not.
 */
.Lpreempt_off:
	holds	0
	push	%rax
	pushf
	push	%rdx
	push	%rsi
	mov	%gs:0, %eax
	at	PATCH_CPU_NUMBER
	shl	$CTL_SHIFT, %eax
	mov	WINDOW_CTL + CTL_CRITICAL(%rax), %esi
	at	PATCH_WINDOW
	mov	16(%rsp), %ecx
	test	$CRITICAL_PREEMPT, %sil
	jz	.Lpreempt_off_done
	and	$RFLAGS_IF, %ecx
	jnz	.Lpreempt_begins
	test	$CRITICAL_IRQS, %sil
	jnz	.Lpreempt_off_done
.Lpreempt_begins:
	shl	$STATE_IRQS_OFF_SHIFT - RFLAGS_IF_SHIFT, %ecx
	mov	%gs:0, %edx
	at	PATCH_PREEMPT_COUNT
	sub	%ecx, %edx
	window_begins PAYLOAD_PREEMPT_OFF, 48
.Lpreempt_off_done:
	btl	$0, 16(%rsp)
	pop	%rsi
	pop	%rdx
	lea	8(%rsp), %rsp
	holds	1
	pop	%rax
	ret

/*
 * The count is about to be zero: the window ends, if one is open, unless it is one of both kinds
 * and interrupts are off. As above.
 */
.Lpreempt_on:
	push	%rax
	pushf
	push	%rdx
	read_tsc
	mov	%gs:0, %ecx
	at	PATCH_CPU_NUMBER
	shl	$CTL_SHIFT, %ecx
	mov	OPEN + RECORD_TSC(%rcx), %rdx
	at	PATCH_WINDOW
	test	%rdx, %rdx
	jz	.Lpreempt_on_done
	/* One that has moved comes here whatever is measured. */
	testb	$CRITICAL_PREEMPT, WINDOW_CTL + CTL_CRITICAL(%rcx)
	at	PATCH_WINDOW, 4, 1
	jz	.Lpreempt_on_done
	testb	$CRITICAL_IRQS, WINDOW_CTL + CTL_CRITICAL(%rcx)
	at	PATCH_WINDOW, 4, 1
	jz	.Lpreempt_ends
	testl	$RFLAGS_IF, 8(%rsp)
	jz	.Lpreempt_on_done
.Lpreempt_ends:
	window_ends PAYLOAD_PREEMPT_ON, .Lpreempt_on_done, above=40, flags=8
.Lpreempt_on_done:
	btl	$0, 8(%rsp)
	pop	%rdx
	lea	8(%rsp), %rsp
	holds	1
	pop	%rax
	ret

/*
 * The call of a function that raises the count by \by: some kernels have preempt_count_add(val),
 * and __local_bh_disable_ip(ip, cnt). It is raised here for as long as this takes, as the function
 * is about to.
 */
	.macro	function_raises name, by, function
	.globl	\name
\name:
	addl	\by, %gs:0
	at	PATCH_PREEMPT_COUNT
	edge	\name, EDGE_REDO
	mov	%gs:0, %eax
	at	PATCH_PREEMPT_COUNT
	sub	\by, %eax
	add	%eax, %eax
	jnz	1f
	push	%rcx
	call	.Lpreempt_off
	pop	%rcx
1:	subl	\by, %gs:0
	at	PATCH_PREEMPT_COUNT
2:	kernel_jump \function
	edge	2b, EDGE_REDO
	.endm

	function_raises payload_count_add, %edi, PATCH_COUNT_ADD
	function_raises payload_bh_disable_call, %esi, PATCH_BH_DISABLE

/* The call of preempt_count_sub(val). */
	.globl	payload_count_sub
payload_count_sub:
	mov	%gs:0, %eax
	at	PATCH_PREEMPT_COUNT
	sub	%edi, %eax
	add	%eax, %eax
	jnz	1f
	push	%rcx
	call	.Lpreempt_on
	pop	%rcx
1:	kernel_jump PATCH_COUNT_SUB

/*
 * The call of ct_idle_exit(): a vCPU has waited long enough. A task that cannot be preempted does,
 * so a window begins.
 */
	.globl	payload_idle_exit
payload_idle_exit:
	mov	%gs:0, %eax
	at	PATCH_CPU_NUMBER
	shl	$CTL_SHIFT, %eax
	testb	$CRITICAL_PREEMPT, WINDOW_CTL + CTL_CRITICAL(%rax)
	at	PATCH_WINDOW, 4, 1
	jz	.Lidle_exit_done
	mov	%gs:0, %edx
	at	PATCH_PREEMPT_COUNT
	window_begins PAYLOAD_PREEMPT_OFF, 0
.Lidle_exit_done:
	kernel_jump PATCH_IDLE_EXIT
