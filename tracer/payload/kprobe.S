/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kprobe.S - the handlers of kprobes, kretprobes and uprobes that the guest's kernel has been asked for,
 * and probes of its tracepoints; they lie in the window. payload.S includes it.
 *
 * The kernel calls them with preemption off, perhaps in the middle of a breakpoint's exception, but for
 * those of uprobes. Each
 * hit is a call to the host: CTL_CALL_DI is where the registers are (struct pt_regs), and on the
 * stack lie the first argument and the row of WINDOW_PROBES.
 *
 * While a host has not taken notice of a wait in vain none of this vCPU's hits waits: so one that
 * stands costs each vCPU one call_timeout. What the host has not been told of is counted.
 */

	/* (struct kprobe *, struct pt_regs *): the row itself. */
	called_by_address payload_kprobe
	mov	%rdi, %rax
	jmp	.Lkprobe_row
	/* (struct kretprobe_instance *, struct pt_regs *): of the one that runs on this CPU. */
	called_by_address payload_kretprobe
	mov	%gs:0, %rax
	at	PATCH_CURRENT_KPROBE
.Lkprobe_row:
	push	%rax
	push	%rdi
	mov	%gs:0, %r10d
	at	PATCH_CPU_NUMBER
	shl	$CTL_SHIFT, %r10d
	mov	WINDOW_CTL + CTL_CALL_VAIN(%r10), %r11d
	at	PATCH_WINDOW
	cmp	WINDOW_CTL + CTL_CALL_HEARD(%r10), %r11d
	at	PATCH_WINDOW
	jne	.Lkprobe_missed
	mov	%rsi, %rdi
	.globl	payload_kprobe_call
payload_kprobe_call:
	call	.Lcall
	test	%r11d, %r11d
	jnz	.Lkprobe_missed
	pop	%rdi
	pop	%rax
	lock incq PROBE_ROW_HITS(%rax)
	xor	%eax, %eax
	ret
.Lkprobe_missed:
	holds	2
	pop	%rdi
	pop	%rax
	lock incq PROBE_ROW_MISSED(%rax)
	xor	%eax, %eax
	ret

	/*
	 * The same at a function's entry: what its return is to know goes into the instance's data.
	 * In the order of PROBE_ARGS, from where struct pt_regs has it.
	 */
	called_by_address payload_kretprobe_entry
	.macro	keep_arg n, at
	mov	\at * 8(%rsi), %rax
	{disp32} mov %rax, \n * 8(%rdi)
	at	PATCH_INSTANCE_DATA
	.endm
	keep_arg 0, 14
	keep_arg 1, 13
	keep_arg 2, 12
	keep_arg 3, 11
	keep_arg 4, 9
	keep_arg 5, 8
	xor	%eax, %eax
	ret

	/*
	 * A probe of a tracepoint, which is called with preemption off: (row, what the tracepoint passes
	 * on). The handler finds the registers that the kernel's own function has at its entry.
	 */
	.macro tracepoint_probe handler
	mov	%rsp, %rax
	push	$0 /* ss */
	push	%rax
	pushf
	push	$0 /* cs, ip, orig_ax */
	push	$0
	push	$0
	push	%rdi
	push	%rsi
	push	%rdx
	push	%rcx
	push	%rax
	push	%r8
	push	%r9
	push	%r10
	push	%r11
	push	%rbx
	push	%rbp
	push	%r12
	push	%r13
	push	%r14
	push	%r15
	mov	%rsp, %rsi
	call	\handler
	add	$21 * 8, %rsp
	holds	0
	ret
	.endm

	called_by_address payload_tracepoint
	tracepoint_probe payload_kprobe
	called_by_address payload_tracepoint_stop
	tracepoint_probe payload_kprobe_stop

	/*
	 * The same where probes are traps (dynevent/kprobe-traps.h): the host takes the place of the NOP.
	 * Should it be gone, that is all that is done.
	 */
	called_by_address payload_kprobe_stop
	mov	%rdi, %rax
	jmp	.Lkprobe_stop_row
	called_by_address payload_kretprobe_stop
	mov	%gs:0, %rax
	at	PATCH_CURRENT_KPROBE
.Lkprobe_stop_row:
	push	%rax
	push	%rdi
	mov	%rsi, %rdi
	.globl	payload_kprobe_trap
payload_kprobe_trap:
	xchg	%ax, %ax
	pop	%rdi
	pop	%rax
	lock incq PROBE_ROW_HITS(%rax)
	xor	%eax, %eax
	ret

	/*
	 * Of uprobes, which a task calls that may sleep, and be preempted: not while it waits for the
	 * host. Who has the kernel remove one waits until nobody is in here.
	 */
	.macro	not_preempted handler
	incl	%gs:0
	at	PATCH_PREEMPT_COUNT
	call	\handler
	subl	$1, %gs:0
	at	PATCH_PREEMPT_COUNT, 4, 1
	ret
	.endm

	/* (row, function, struct pt_regs *): as a kretprobe's. */
	.macro	uretprobe handler
	mov	%rdi, %rax
	mov	%rsi, %rdi
	mov	%rdx, %rsi
	not_preempted \handler
	.endm

	/* (row, struct pt_regs *) */
	called_by_address payload_uprobe
	not_preempted payload_kprobe
	called_by_address payload_uprobe_stop
	not_preempted payload_kprobe_stop
	called_by_address payload_uretprobe
	uretprobe .Lkprobe_row
	called_by_address payload_uretprobe_stop
	uretprobe .Lkprobe_stop_row
	/* The same where the function begins whose return is probed: the kernel counts calls. */
	called_by_address payload_uprobe_called
	lock incq PROBE_ROW_CALLS(%rdi)
	xor	%eax, %eax
	ret
