/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * event.S - the part of the payload that the guest's own event probes come to; payload.S includes
 * it.
 *
 * An event's probe asks trace_event_buffer_reserve(fbuffer, file, len) for room, fills it and calls
 * trace_event_buffer_commit(fbuffer) (kernel/trace/trace_events.c and trace.c). Both begin with a
 * jump to here, with the arguments where the kernel has put them. A file that lies in the window is
 * ours; for all others the function goes on: its first instructions have been copied behind the
 * test, and are followed by a jump back.
 *
 * Who calls with a file of ours cannot be preempted, as the probe of a tracepoint, or is kept from
 * it here (EVENT_STAYS), from reserve to commit: so the vCPU is the same. Nothing but %rax is
 * changed before the test, and the copies run as the kernel's own code would, by whomever:
 * window/quiesce.c knows where to.
 *
 * The room is in the vCPU's ring of event data, with eight bytes before it: the low half of the
 * record's number, and what is the header of an event of the guest's ring buffer for those who look
 * (ring_buffer_event_data()). The record is complete but for its number, which commit writes.
 */

	/* Go to `otherwise` unless the file at %rax lies in the window; %rax is changed. */
	.macro	file_look otherwise
	sub	$WINDOW_EVENT_FILES, %rax
	at	PATCH_WINDOW
	cmp	$EVENT_FILES_SIZE, %rax
	jae	\otherwise
	.endm

	/* Room for what has been overwritten by the jump: event-detour.c fills it. */
	.macro	detour_rest name
	.globl	\name
\name:
	holds	FRAME_NONE
	.skip	DETOUR_REST, 0xcc
	holds	0
	.endm

	.globl	payload_reserve
payload_reserve:
	mov	%rsi, %rax
	file_look payload_reserve_rest
	testb	$EVENT_STAYS, EVENT_FILE_FLAGS(%rsi)
	jnz	.Lreserve_stays
	edge	payload_reserve, EDGE_DETOUR
.Lreserve_file:
	mov	%eax, %r9d
	mov	%gs:0, %r10d
	at	PATCH_PREEMPT_COUNT
	mov	%gs:0, %rcx
	at	PATCH_CURRENT_TASK
	add_need_resched %rcx, %eax, %r10d
	{disp32} mov 0(%rcx), %r11d
	at	PATCH_PID
	{disp32} movzwl 0(%rcx), %r8d
	at	PATCH_MIGRATION_DISABLED
	mov	%gs:0, %eax
	at	PATCH_CPU_NUMBER
	shl	$CTL_SHIFT, %eax
	cmpl	$0, WINDOW_CTL + CTL_EVENTS(%rax)
	at	PATCH_WINDOW, 4, 1
	je	.Lno_room
	shl	$32, %r11
	/*
	 * CTL_FLAGS and CTL_LAST_PID in one: nothing unusual, and the pid is the latest one's.
	 * Whether functions are recorded does not matter.
	 */
	mov	WINDOW_CTL + CTL_FLAGS(%rax), %rcx
	at	PATCH_WINDOW
	and	$~CTL_FL_ON, %rcx
	cmp	%r11, %rcx
1:	jmp	.Levent_unusual /* which looks for room */
	only_with PATCH_FULL_TIMEOUT, 1b
	jne	.Levent_unusual
.Levent_record:
1:	shl	$32 + RECORD_MIGRATE_SHIFT, %r8
	add	%r8, %r11
	only_with PATCH_MIGRATION_DISABLED, 1b
	/* %rax offset of control block, %rdx bytes, %r9 offset of file, %r10d state, %r11 task << 32 */
	cmp	$EVENT_MAX, %rdx
	ja	.Lno_room
	add	%rdx, %r11
	lea	EVENT_HEADER + 7(%rdx), %ecx
	and	$-8, %ecx
	testb	$EVENT_STACK_COPY, EVENT_FILE_FLAGS(%rsi)
	jz	.Levent_room
	cmp	$EVENT_COPY_LEN, %rdx
	ja	.Levent_room
	push	%rsi
	lea	8(%rsp), %rsi
	call	.Lcopy_size
	pop	%rsi
	inc	%r9d
.Levent_room:
	event_room
	pushf
	pop	%rcx
	and	$RFLAGS_IF, %ecx
	shl	$STATE_IRQS_OFF_SHIFT - RFLAGS_IF_SHIFT, %ecx
	lea	STATE_IRQS_OFF + (PAYLOAD_EVENT << STATE_TYPE_SHIFT)(%r10), %r10d
	sub	%ecx, %r10d
	mov	%rax, %rcx
	shl	$0, %rcx
	at	PATCH_EVENT_SHIFT, 1
	add	%rcx, %rdx
	lea	EVENT_HEADER(%rdx), %rcx
	add	$IMM32, %rcx
	at	PATCH_EVENT_RINGS
	{disp32} mov %rsi, 0(%rdi)
	at	PATCH_FBUFFER_FILE
	{disp32} mov %rcx, 0(%rdi)
	at	PATCH_FBUFFER_ENTRY
	sub	$4, %rcx
	{disp32} mov %rcx, 0(%rdi)
	at	PATCH_FBUFFER_EVENT
	testb	$1, %r9b
	jnz	.Lcopy_event
.Lcopied:
	mov	$1, %esi
	xadd	%rsi, WINDOW_CTL + CTL_HEAD(%rax)
	at	PATCH_WINDOW
	mov	%esi, -4(%rcx)
	movl	$EVENT_TYPE_LEN, (%rcx)
	shl	$PAYLOAD_RECORD_SHIFT, %rsi
	and	$IMM32, %esi
	at	PATCH_RING_MASK
	shl	$0, %rax
	at	PATCH_RING_SHIFT, 1
	add	%rax, %rsi
	shl	$32, %r9
	mov	%r8d, %r8d
	or	%r8, %r9
	read_tsc
	mov	%rax, WINDOW_RINGS + RECORD_TSC(%rsi)
	at	PATCH_WINDOW
	mov	%r9, WINDOW_RINGS + RECORD_IP(%rsi)
	at	PATCH_WINDOW
	mov	%r11, WINDOW_RINGS + RECORD_SP(%rsi)
	at	PATCH_WINDOW
	mov	%r10d, WINDOW_RINGS + RECORD_STATE(%rsi)
	at	PATCH_WINDOW
	lea	4(%rcx), %rax
	ret
.Lno_room:
	xor	%eax, %eax
	testb	$EVENT_STAYS, EVENT_FILE_FLAGS(%rsi)
	jnz	.Lmay_go
	ret

.Lreserve_stays:
	incl	%gs:0
	at	PATCH_PREEMPT_COUNT
	jmp	.Lreserve_file
.Lmay_go:
	subl	$1, %gs:0
	at	PATCH_PREEMPT_COUNT, 4, 1
	ret

.Lcopy_event:
	mov	%r11d, %edx
	lea	4 + 7(%rcx, %rdx), %rdi
	and	$-8, %rdi
	mov	%rsp, %rsi
	call	.Lcopy_stack
	jmp	.Lcopied

.Levent_unusual:
	call	.Lcheck_event
	jc	.Lno_room
1:	jmp	.Levent_wait
	only_with PATCH_FULL_TIMEOUT, 1b
	jmp	.Levent_record

/*
 * Wait for room, as a record does (payload.h): up to full_timeout, and not where that was in vain
 * and the host has taken nothing since.
 */
.Levent_wait:
	push	%rdx
	push	%rsi
	push	%rdi
	push	%r8
	push	%r9
	mov	%rax, %rcx
	xor	%edi, %edi
	xor	%r9d, %r9d
1:	mov	WINDOW_CTL + CTL_EVENT_TAIL(%rcx), %rsi
	at	PATCH_WINDOW
	mov	WINDOW_CTL + CTL_EVENT_HEAD(%rcx), %r8
	at	PATCH_WINDOW
	sub	%rsi, %r8
	cmp	$IMM32, %r8
	at	PATCH_EVENT_FULL
	jb	2f
	cmp	%rsi, WINDOW_CTL + CTL_EVENT_FULL(%rcx)
	at	PATCH_WINDOW
	je	.Levent_in_vain
	pause
	wait_again %rdi, %r9, 1b
	mov	%rsi, WINDOW_CTL + CTL_EVENT_FULL(%rcx)
	at	PATCH_WINDOW
.Levent_in_vain:
	incq	WINDOW_CTL + CTL_DROPPED(%rcx)
	at	PATCH_WINDOW
2:	mov	%rcx, %rax
	pop	%r9
	pop	%r8
	pop	%rdi
	pop	%rsi
	pop	%rdx
	/* Carry: of the first compare, there is room; of the others it has not got here. */
	jc	.Levent_record
	jmp	.Lno_room

	detour_rest payload_reserve_rest

	.globl	payload_commit
payload_commit:
	{disp32} mov 0(%rdi), %rax
	at	PATCH_FBUFFER_FILE
	file_look payload_commit_rest
	edge	payload_commit, EDGE_DETOUR
.Lcommit_file:
	{disp32} mov 0(%rdi), %rcx
	at	PATCH_FBUFFER_EVENT
	mov	-4(%rcx), %edx
	testb	$EVENT_STACK_CALL | EVENT_STAYS, WINDOW_EVENT_FILES + EVENT_FILE_FLAGS(%rax)
	at	PATCH_WINDOW, 4, 1
	jnz	.Lcommit_unusual
.Lcommit:
	mov	%gs:0, %eax
	at	PATCH_CPU_NUMBER
	shl	$CTL_SHIFT, %eax
	shl	$0, %rax
	at	PATCH_RING_SHIFT, 1
	mov	%edx, %ecx
	shl	$PAYLOAD_RECORD_SHIFT, %rcx
	and	$IMM32, %ecx
	at	PATCH_RING_MASK
	add	%rcx, %rax
	mov	%edx, WINDOW_RINGS + RECORD_SEQ(%rax)
	at	PATCH_WINDOW
	ret

	/*
	 * The host looks at the stack before it gets the record: a call, whose first argument is the
	 * record's number. In an interrupt that has made too many there is none.
	 */
.Lcommit_unusual:
	movzbl	WINDOW_EVENT_FILES + EVENT_FILE_FLAGS(%rax), %esi
	at	PATCH_WINDOW
	test	$EVENT_STACK_CALL, %sil
	jz	.Lcommit_looked
	mov	%gs:0, %r10d
	at	PATCH_CPU_NUMBER
	shl	$CTL_SHIFT, %r10d
	mov	WINDOW_CTL + CTL_NO_WAIT(%r10), %eax
	at	PATCH_WINDOW
	test	%eax, %eax
	jz	1f
	testl	$INTERRUPT_COUNT_MASK, %gs:0
	at	PATCH_PREEMPT_COUNT, 4, 4
	jnz	.Lcommit_looked
1:	mov	%edx, %edi
	call	.Lcall
	mov	%edi, %edx
.Lcommit_looked:
	test	$EVENT_STAYS, %sil
	jz	.Lcommit
	call	.Lcommit
	jmp	.Lmay_go

	detour_rest payload_commit_rest

	/*
	 * Where events are traps (tracepoint/traps.h) the functions begin with a jump to these instead,
	 * which only tell our files from others: the host takes the place of the NOPs. Should it be
	 * gone, there is no room, and nothing to commit.
	 */
	.globl	payload_reserve_look
payload_reserve_look:
	mov	%rsi, %rax
	file_look payload_reserve_rest
	testb	$EVENT_STAYS, EVENT_FILE_FLAGS(%rsi)
	jnz	.Lreserve_look_stays
	edge	payload_reserve_look, EDGE_DETOUR
.Lreserve_look_file:
	{disp32} movq $0, 0(%rdi)
	at	PATCH_FBUFFER_ENTRY, 4, 4
	.globl	payload_reserve_trap
payload_reserve_trap:
	xchg	%ax, %ax
	{disp32} mov 0(%rdi), %rax
	at	PATCH_FBUFFER_ENTRY
	test	%rax, %rax
	jz	.Lno_room
	ret
.Lreserve_look_stays:
	incl	%gs:0
	at	PATCH_PREEMPT_COUNT
	jmp	.Lreserve_look_file

	.globl	payload_commit_look
payload_commit_look:
	{disp32} mov 0(%rdi), %rax
	at	PATCH_FBUFFER_FILE
	file_look payload_commit_rest
	edge	payload_commit_look, EDGE_DETOUR
	.globl	payload_commit_trap
payload_commit_trap:
	xchg	%ax, %ax
	testb	$EVENT_STAYS, WINDOW_EVENT_FILES + EVENT_FILE_FLAGS(%rax)
	at	PATCH_WINDOW, 4, 1
	jnz	.Lmay_go
	ret
