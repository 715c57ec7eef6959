/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * work.S - calls that one of the guest's own kworkers makes for the host: the function of a
 * work_struct in the window. It may sleep, and be preempted anywhere. payload.S includes it.
 */

	called_by_address payload_work
	push	%rbx
	push	%r12
	push	%r13
	mov	%rdi, %rbx
	lea	WORK_CALLS(%rdi), %r12
1:	mov	WORK_DONE(%rbx), %r13d
	cmp	WORK_NR(%rbx), %r13d
	jae	2f
	mov	WORK_CALL_ARG(%r12), %rdi
	mov	WORK_CALL_ARG + 8(%r12), %rsi
	mov	WORK_CALL_ARG + 16(%r12), %rdx
	mov	WORK_CALL_ARG + 24(%r12), %rcx
	call	3f
	mov	WORK_CALL_RET(%r12), %rdx
	test	%rdx, %rdx
	jz	4f
	mov	%rax, (%rdx)
4:	mov	%rax, WORK_CALL_RET(%r12)
	add	$WORK_CALL_SIZE, %r12
	incl	WORK_DONE(%rbx)
	jmp	1b
2:	movl	$1, WORK_OVER(%rbx)
	pop	%r13
	pop	%r12
	pop	%rbx
	ret
	/*
	 * By a return: a kernel that checks where indirect calls go (IBT, FineIBT) has marked only
	 * those functions whose address it takes somewhere.
	 */
3:	holds	0
	push	WORK_CALL_FN(%r12)
	ret
