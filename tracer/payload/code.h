/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * code.h - what payload.S leaves open, and patch.c fills in. C and assembly include it.
 *
 * Each operand that depends on the kernel or on the window is a row in payload_patches[]; what
 * reads a member that not every kernel has is a row in payload_optional[].
 */
#ifndef HVTRACE_TRACER_PAYLOAD_CODE_H
#define HVTRACE_TRACER_PAYLOAD_CODE_H

/* Displacements of 32 bits: the value is added to what the code has there. */
#define PATCH_WINDOW		 0
#define PATCH_CPU_NUMBER	 1
#define PATCH_CURRENT_TASK	 2
#define PATCH_PREEMPT_COUNT	 3
#define PATCH_PID		 4
#define PATCH_TGID		 5
#define PATCH_COMM		 6
#define PATCH_MIGRATION_DISABLED 7
#define PATCH_TASK_FLAGS	 8
/* Immediates: the value takes the place of what the code has there. */
#define PATCH_NEED_RESCHED 9  /* u8: rotates the bit to STATE_NEED_RESCHED */
#define PATCH_RING_SHIFT   10 /* u8: from the offset of a control block to that of its ring */
#define PATCH_RING_MASK	   11 /* u32: offsets of records in a ring */
#define PATCH_RING_FULL	   12 /* u32: records in a ring that count as full */
#define PATCH_FULL_TIMEOUT 13 /* u64 */
#define PATCH_CALL_TIMEOUT 14 /* u64 */
#define PATCH_TEXT_MUTEX   15 /* s32 */
#define PATCH_RETURN	   16 /* the five bytes of a return site */
#define PATCH_TASK_STACK   17
#define PATCH_STACK_MASK   18 /* u32: offsets in a task's stack */
#define PATCH_EVENT_SHIFT                                                                          \
	19		     /* u8: from the offset of a control block to that of its event ring   \
			      */
#define PATCH_EVENT_MASK  20 /* u32: offsets in an event ring */
#define PATCH_EVENT_RINGS 21 /* s32 */
/* Displacements */
#define PATCH_FBUFFER_EVENT  22
#define PATCH_FBUFFER_FILE   23
#define PATCH_FBUFFER_ENTRY  24
#define PATCH_EVENT_FULL     25 /* u32: bytes in an event ring that count as full */
#define PATCH_CURRENT_KPROBE 26
#define PATCH_IRQENTRY_ENTER 27 /* five bytes: a jump there */
#define PATCH_IDLE_ENTER     28
#define PATCH_IDLE_EXIT	     29
#define PATCH_IRQ_STACK	     30 /* s32 */
#define PATCH_COUNT_ADD	     31
#define PATCH_COUNT_SUB	     32
#define PATCH_BH_DISABLE     33
#define PATCH_TRACE_BUFFER   34 /* s32 */
#define PATCH_MSLEEP	     35 /* five bytes: a jump there */
#define PATCH_INSTANCE_DATA  36 /* displacement: of struct kretprobe_instance */
#define PATCH_DO_SYSCALL     37 /* five bytes: a jump there */
#define NR_PATCHES	     38

/* Of payload_frames: how many words lie in front of the address that is returned to; the site: */
#define FRAME_WORDS 0xff
#define FRAME_NONE  0xff /* it is not known */
#define FRAME_OTHER 0
#define FRAME_BARE  0x100 /* its function has nothing on the stack but the address it returns to */

/* What is left in front of a function that the kernel calls by address: CALL_TYPE_SIZE. */
#define TYPE_SIZE 16

#ifndef __ASSEMBLER__

#include <stdint.h>

struct payload_patch {
	uint32_t off, kind;
};

/* Code that becomes NOPs where the kernel does not have the member. */
struct payload_optional {
	uint32_t from, to, kind;
};

struct payload_edge {
	uint32_t from, to, how;
};

/* From there on; by address. */
struct payload_frame_row {
	uint32_t from, frame; /* FRAME_ */
};

/* All in read-only data: this code never runs in the host. */
extern const uint8_t payload_code[], payload_code_end[];
extern const uint8_t payload_function[], payload_call[], payload_lock[], payload_lock_record[],
	payload_stack[], payload_depth[], payload_depth_record[], payload_exit[],
	payload_exit_all[], payload_reserve[], payload_reserve_rest[], payload_commit[],
	payload_commit_rest[], payload_reserve_look[], payload_reserve_trap[],
	payload_commit_look[], payload_commit_trap[], payload_event_data[],
	payload_event_data_rest[], payload_ring_commit[], payload_ring_commit_rest[],
	payload_work[], payload_kprobe[], payload_kretprobe[], payload_kretprobe_entry[],
	payload_kprobe_call[], payload_kprobe_stop[], payload_kretprobe_stop[],
	payload_kprobe_trap[], payload_tracepoint[], payload_tracepoint_stop[], payload_uprobe[],
	payload_uprobe_stop[], payload_uretprobe[], payload_uretprobe_stop[],
	payload_uprobe_called[], payload_print_trap[], payload_tracing_off[],
	payload_tracing_off_rest[], payload_tracing_on[], payload_tracing_on_rest[],
	payload_branch[], payload_branch_rest[], payload_switch_call[], payload_cli[],
	payload_sti[], payload_irq_entry[], payload_syscall_entry[], payload_irq_exit[],
	payload_user_exit[], payload_idle[], payload_idle_exit[], payload_moved_cli[],
	payload_moved_sti[], payload_moved_look[], payload_moved_exit[], payload_preempt_inc[],
	payload_preempt_dec[], payload_bh_disable[], payload_bh_lock[], payload_bh_enable[],
	payload_softirq_enter[], payload_softirq_exit[], payload_hardirq_enter[],
	payload_hardirq_exit[], payload_count_add[], payload_count_sub[], payload_bh_disable_call[];
extern const struct payload_patch payload_patches[], payload_patches_end[];
extern const struct payload_optional payload_optional[], payload_optional_end[];
extern const struct payload_edge payload_edges[], payload_edges_end[];
extern const struct payload_frame_row payload_frames[], payload_frames_end[];

#endif
#endif
