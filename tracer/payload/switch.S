/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * switch.S - the guest's own tracing_off() and tracing_on(), which begin with a jump to here; payload.S
 * includes it, behind call.S.
 *
 * Off is told by its time alone, in WINDOW_SWITCH: what the collector finds that is later is not
 * recorded, on whatever vCPU. So nobody waits for the host, who may call from anywhere. On is a call to
 * the host, if recording is off: what the guest does behind it is recorded.
 *
 * Nothing but %rax is changed. preempt_count is raised, so that nobody is preempted in here.
 */

	.globl	payload_tracing_off
payload_tracing_off:
	holds	0
	count_step inc
	edge	payload_tracing_off, EDGE_DETOUR
	push	%rdx
	push	%rcx
	read_tsc
	mov	%rax, %rcx
	mov	$SWITCH_ON, %rax
	lock cmpxchg %rcx, WINDOW_SWITCH
	at	PATCH_WINDOW
	pop	%rcx
	pop	%rdx
	count_step dec
	detour_rest payload_tracing_off_rest

	.globl	payload_tracing_on
payload_tracing_on:
	count_step inc
	edge	payload_tracing_on, EDGE_DETOUR
	cmpq	$SWITCH_ON, WINDOW_SWITCH
	at	PATCH_WINDOW, 4, 1
	je	1f
	push	%r10
	push	%r11
	.globl	payload_switch_call
payload_switch_call:
	call	.Lcall
	pop	%r11
	pop	%r10
1:	count_step dec
	detour_rest payload_tracing_on_rest
