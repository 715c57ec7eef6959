/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * payload.S - the code that probes call in the guest. It is data here: patch.c copies it and fills
 * in what depends on the kernel and the window.
 *
 * The entries are called by a 5-byte site: (%rsp) is the site's end, 8(%rsp) the function's return
 * address. Those at a function's start change %rax, %r10, %r11 and the arithmetic flags, none of
 * which means anything at the start of a C function (psABI x86-64, 3.2.3: %al tells the number of
 * vector registers, which the kernel does not pass arguments in), and nothing else. Those in a
 * return's place return from the function as well; what they change is said there.
 *
 * What is between the raise of preempt_count and its return cannot be left by a task: so the
 * vCPU stays the same, and a host that finds no task preempted in here outside payload_edges[] and
 * no vCPU inside may take the code away. Interrupts and NMIs may come at any instruction, and the
 * functions that they call come in here too.
 *
 * Where kernel code is translated (QEMU's TCG), a memory access costs as much as some ten other
 * instructions and a branch not much less. Hence: what can be loaded or stored together is, one
 * compare finds everything unusual, and what is unusual lies behind the common path. Before each
 * memory access all registers that have changed are written back, and so is what the flags follow
 * from: two words, one after `and` or `or`. So arithmetic stands together, ends with one of these,
 * and lea, mov and not are preferred, which change no flags; it has 64 bits, for 32 have to be cut
 * off once more.
 */
#include "tracer/payload/code.h"
#include "tracer/payload/payload.h"

/* A place for an immediate that the assembler does not make shorter. */
#define IMM32 0x10000000

#define RFLAGS_IF_SHIFT 9
#define RFLAGS_IF	(1 << RFLAGS_IF_SHIFT)

	.section .note.GNU-stack, "", @progbits
	.section .rodata.payload, "a", @progbits

/* The operand that ends `back` bytes before here, and is `width` bytes long, is to be filled in. */
	.macro	at kind, width=4, back=0
.Lpatch\@:
	.pushsection .rodata.payload_patches, "a"
	.long	.Lpatch\@ - payload_code - \back - \width, \kind
	.popsection
	.endm

/* From the label on the code is for kernels with this member. */
	.macro	only_with kind, from
.Lonly\@:
	.pushsection .rodata.payload_optional, "a"
	.long	\from - payload_code, .Lonly\@ - payload_code, \kind
	.popsection
	.endm

/* From the label to here nothing has been done yet, or all is done and a return is left: EDGE_. */
	.macro	edge from, how=EDGE_RETURN
.Ledge\@:
	.pushsection .rodata.payload_edges, "a"
	.long	\from - payload_code, .Ledge\@ - payload_code, \how
	.popsection
	.endm

	.macro	label name, table
	.pushsection .rodata.\table, "a"
	.balign	4
	.globl	\name
\name:
	.popsection
	.endm

	label	payload_patches, payload_patches
	label	payload_optional, payload_optional
	label	payload_edges, payload_edges

/* TSC into %rax; changes %rdx. */
	.macro	read_tsc
	rdtsc
	shl	$32, %rdx
	or	%rdx, %rax
	.endm

	.balign	64
	.globl	payload_code
payload_code:

/* --- the call of a function ------------------------------------------------------------------ */

	.globl	payload_function
payload_function:
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
	call	.Lcheck
	jc	.Lleave
	jmp	.Lrecord

/* The same for an event, which may be of any task. */
.Lcheck_event:
	push	%rcx
	mov	WINDOW_CTL + CTL_FLAGS(%rax), %ecx
	at	PATCH_WINDOW
	push	%rsi
	mov	%r11, %rsi
	shr	$32, %rsi
	jmp	.Lwanted

/*
 * Tracing is off, or only some tasks are traced, or records may not be lost, or this is another
 * task than the one before. Gives carry when there is to be no record; all else is kept.
 */
.Lcheck:
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
	test	$CTL_FL_LOSSLESS, %cl
	jz	.Lroom
	mov	WINDOW_CTL + CTL_HEAD(%rax), %rcx
	at	PATCH_WINDOW
	sub	WINDOW_CTL + CTL_TAIL(%rax), %rcx
	at	PATCH_WINDOW
	cmp	$IMM32, %rcx
	at	PATCH_RING_FULL
	jae	.Lfull
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
	mov	WINDOW_CTL + CTL_TAIL(%rax), %rcx
	at	PATCH_WINDOW
	cmp	%rcx, WINDOW_CTL + CTL_FULL_TAIL(%rax)
	at	PATCH_WINDOW
	je	.Ldrop
	push	%rdx
	push	%rdi
	push	%rsi
	mov	%rax, %rcx
	read_tsc
	mov	%rax, %rdi
1:	pause
	mov	WINDOW_CTL + CTL_HEAD(%rcx), %rax
	at	PATCH_WINDOW
	mov	WINDOW_CTL + CTL_TAIL(%rcx), %rsi
	at	PATCH_WINDOW
	sub	%rsi, %rax
	cmp	$IMM32, %rax
	at	PATCH_RING_FULL
	jb	2f
	read_tsc
	sub	%rdi, %rax
	movabs	$0, %rdx
	at	PATCH_FULL_TIMEOUT, 8
	cmp	%rdx, %rax
	jb	1b
	mov	%rsi, WINDOW_CTL + CTL_FULL_TAIL(%rcx)
	at	PATCH_WINDOW
2:	mov	%rcx, %rax
	pop	%rsi
	pop	%rdi
	pop	%rdx
	/* Carry: of the first compare, there is room; of the second it has not got here. */
	jc	.Lroom
	jmp	.Ldrop

/* %esi is the pid of a task that the host may not know. */
.Lother_task:
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

/* --- the return of a function ---------------------------------------------------------------- */

/*
 * In the place of a return: what has been called goes on at 8(%rsp), the way that the kernel would
 * have taken. The record has no parent: its bits are all ones.
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
	mov	$1, %r10d
	xadd	%r10d, %gs:0
	at	PATCH_PREEMPT_COUNT
	edge	payload_exit, EDGE_REDO
	mov	%rax, %r8
	mov	%rdx, %r9
	exit_look .Lexit_unusual
.Lexit_record:
	pushf
	pop	%rdx
	pop	%rcx
	exit_record 0
.Lexit_leave:
	mov	%r8, %rax
	mov	%r9, %rdx
	subl	$1, %gs:0
	at	PATCH_PREEMPT_COUNT, 4, 1
1:	kernel_return
	edge	1b

.Lexit_unusual:
	call	.Lcheck
	jnc	.Lexit_record
	lea	8(%rsp), %rsp
	jmp	.Lexit_leave

/*
 * Of one that may be in assembly, and that a compiler's function ends by jumping to: so it is a
 * function like others, whose flags mean nothing when it returns. But inline assembly may call it
 * too and count on any register that it leaves alone. The arithmetic flags are changed.
 */
	.globl	payload_exit_all
payload_exit_all:
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
	subl	$1, %gs:0
	at	PATCH_PREEMPT_COUNT, 4, 1
1:	kernel_return
	edge	1b

.Lexit_all_unusual:
	call	.Lcheck
	jnc	.Lexit_all_record
	jmp	.Lexit_all_leave

/* --- a call to the host ---------------------------------------------------------------------- */

/* Jump to `target` while less than call_timeout has passed since %r11; changes %rax, %rdx. */
	.macro	until_timeout target
	read_tsc
	sub	%r11, %rax
	movabs	$0, %rdx
	at	PATCH_CALL_TIMEOUT, 8
	cmp	%rdx, %rax
	jb	\target
	.endm

/* Leaves in %r11d whether there was no answer, for who calls it from here. */
	.globl	payload_call
payload_call:
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
	/* This vCPU waits for the host already, and this is an interrupt: no second call fits. */
	mov	$1, %r11d
	mov	WINDOW_CTL + CTL_CALL(%r10), %eax
	at	PATCH_WINDOW
	test	$PAYLOAD_CALL_BUSY, %al
	jnz	.Lcall_leave
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
.Lanswered:
	xor	%eax, %eax /* PAYLOAD_CALL_NONE */
	mov	%eax, WINDOW_CTL + CTL_CALL(%r10)
	at	PATCH_WINDOW
	xor	%r11d, %r11d
.Lcall_leave:
	pop	%rdx
	pop	%rax
	lea	8(%rsp), %rsp
	/* Not decl, which leaves carry alone: that is work where it is translated. */
	subl	$1, %gs:0
	at	PATCH_PREEMPT_COUNT, 4, 1
1:	ret
	edge	1b
.Lcall_vain:
	incl	WINDOW_CTL + CTL_CALL_VAIN(%r10)
	at	PATCH_WINDOW
	mov	$1, %r11d
	jmp	.Lcall_leave

/* --- mutex_lock(): a call to the host where text_mutex is locked ------------------------------- */

	.globl	payload_lock
payload_lock:
	cmp	$IMM32, %rdi
	at	PATCH_TEXT_MUTEX
	je	.Lcall
	ret
	.globl	payload_lock_record
payload_lock_record:
	cmp	$IMM32, %rdi
	at	PATCH_TEXT_MUTEX
	jne	.Lfunction
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
	testb	$PAYLOAD_CALL_BUSY, WINDOW_CTL + CTL_CALL(%r10)
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

/*
 * --- the call of a function, for the stack tracer ------------------------------------------------
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

/* --- interrupts off -------------------------------------------------------------------------- */

#include "tracer/payload/flags.S"

/* --- preemption off -------------------------------------------------------------------------- */

#include "tracer/payload/preempt.S"

/* --- trace events ---------------------------------------------------------------------------- */

#include "tracer/payload/event.S"
#include "tracer/payload/print.S"

/* --- work ------------------------------------------------------------------------------------ */

#include "tracer/payload/work.S"

/* --- probes of the guest's kernel ------------------------------------------------------------ */

#include "tracer/payload/kprobe.S"

	.globl	payload_code_end
payload_code_end:

	label	payload_patches_end, payload_patches
	label	payload_optional_end, payload_optional
	label	payload_edges_end, payload_edges
