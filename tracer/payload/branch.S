/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * branch.S - the part of the payload that sees how the kernel's likely() and unlikely() come out, where it
 * is built to tell that to ftrace_likely_update(data, value, expected, is_constant)
 * (kernel/trace/trace_branch.c); payload.S includes it, behind switch.S.
 *
 * That function begins with a jump to here. The record is that of a call but for its type and what
 * PAYLOAD_BRANCH says. Who calls may be preempted: nothing but %rax, %r10 and %r11 is changed, which
 * mean nothing at the start of a function, and preempt_count is raised until the stack is as it was.
 */
	.globl	payload_branch
payload_branch:
	/* As in payload_function, which restores from %r10 what it finds there. */
	mov	%gs:0, %r10d
	at	PATCH_PREEMPT_COUNT
	lea	1(%r10), %rax
	mov	%al, %gs:0
	at	PATCH_PREEMPT_COUNT
	edge	payload_branch, EDGE_DETOUR
	mov	%edi, %eax
	test	%ecx, %ecx
	jz	1f
	lea	BRANCH_RIGHT + BRANCH_CONSTANT(%rax), %eax
	jmp	2f
1:	cmp	%edx, %esi
	jne	2f
	lea	BRANCH_RIGHT(%rax), %eax
2:	push	%rax
	lea	1 + ((PAYLOAD_BRANCH - PAYLOAD_FUNCTION) << STATE_TYPE_SHIFT)(%r10), %r10
	lea	1(%r10), %rax
	mov	%al, %gs:0
	at	PATCH_PREEMPT_COUNT
	call	.Lraised
	pop	%rax
	count_step dec
	detour_rest payload_branch_rest
