/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lib/text.h - the payload's code, made ready for one kernel and one window. */
#ifndef HVTRACE_TRACER_PAYLOAD_PATCH_H
#define HVTRACE_TRACER_PAYLOAD_PATCH_H

#include <stddef.h>
#include <stdint.h>

#include "tracer/guest/call-type.h"
#include "tracer/payload/payload.h"

/* What the code needs to know. PAYLOAD_NONE where the kernel does not have it. */
#define PAYLOAD_NONE UINT64_MAX

struct payload_config {
	uint64_t window; /* its guest address; it and the kernel's text in the top 2 GiB */
	uint32_t ring_size;
	/*
	 * As %gs:disp32 takes them: run-time offsets of per-CPU variables. Every CPU number that
	 * the guest has is one of a control block and a ring in the window.
	 */
	uint64_t cpu_number, current_task, preempt_count;
	uint64_t current_kprobe;
	uint64_t instance_data; /* offset in struct kretprobe_instance */
	uint64_t irq_stack;	/* a pointer to the highest word of the interrupts' stack */
	/* Offsets in struct task_struct */
	uint64_t task_pid, task_tgid, task_comm, task_migration_disabled, task_flags, task_stack;
	uint32_t stack_size;	  /* bytes of a task's stack, which is aligned to that */
	uint8_t need_resched_bit; /* of thread_info.flags */
	uint64_t text_mutex;	  /* guest address */
	uint64_t return_thunk;	  /* guest address that functions jump to as a return */
	uint64_t call_timeout;	  /* TSC ticks that a call to the host may take */
	uint64_t full_timeout; /* likewise, that a record waits for room; PAYLOAD_NONE: none does */
	/* Guest addresses */
	uint64_t irqentry_enter, do_syscall, idle_enter, idle_exit;
	uint64_t count_add, count_sub, bh_disable; /* likewise: of functions of these names */
	uint64_t event_rings; /* guest address of the first ring of event data */
	uint32_t event_ring_size;
	/* Offsets in struct trace_event_buffer */
	uint64_t fbuffer_event, fbuffer_file, fbuffer_entry;
	uint64_t msleep;       /* guest address of the function of that name */
	uint64_t trace_buffer; /* guest address of the pointer to the top level's ring buffer */
	uint8_t type[CALL_TYPES][CALL_TYPE_SIZE]; /* in front of what the kernel calls by address */
};

#define PAYLOAD_CALLED 11

/* Where sites call: offsets from WINDOW_TEXT. */
struct payload_text {
	uint32_t function; /* record the call of a function: the site is at its fentry */
	uint32_t call;	   /* call the host and wait for it (CTL_CALL); records nothing itself */
	/* The first argument is text_mutex: as call. Otherwise do nothing, or record the call. */
	uint32_t lock, lock_record;
	uint32_t stack; /* call the host, which records the call with its stack; see call.S */
	/* Call the host where the stack is deeper than WINDOW_DEPTH; else nothing, or record. */
	uint32_t depth, depth_record;
	/*
	 * In a return's place: record the exit of a function, and return from it. One is for
	 * functions of compilers, the other changes nothing at all.
	 */
	uint32_t exit, exit_all;
	/*
	 * trace_event_buffer_reserve() and _commit() jump there; what of them has made place for
	 * the jump goes to _rest (DETOUR_REST bytes).
	 */
	uint32_t reserve, reserve_rest, commit, commit_rest;
	/* They jump to _look where the host takes what is of our files, at _trap: two bytes. */
	uint32_t reserve_look, reserve_trap, commit_look, commit_trap;
	/* The same for ring_buffer_event_data() and ring_buffer_unlock_commit(): print.S */
	uint32_t event_data, event_data_rest, ring_commit, ring_commit_rest;
	uint32_t print_trap; /* where such a record exits to the host with PRINTS_STOP, two bytes */
	/* The same for tracing_off() and tracing_on(); and where that calls the host: switch.S */
	uint32_t tracing_off, tracing_off_rest, tracing_on, tracing_on_rest, switch_call;
	uint32_t branch, branch_rest; /* the same for ftrace_likely_update(): branch.S */
	/*
	 * In the place of cli and sti; of the call of irqentry_enter() and the way out; of the
	 * return of syscall_exit_to_user_mode(); of the call of ct_idle_enter(). See flags.S
	 */
	uint32_t cli, sti, irq_entry, irq_exit, user_exit, idle;
	uint32_t syscall_entry; /* of the call of do_syscall_64() */
	/* Likewise of cli and sti, and in front of that return, which have moved (MOVED_). */
	uint32_t moved_cli, moved_sti, moved_exit;
	uint32_t moved_look; /* behind a cli or sti */
	/*
	 * In the place of what changes the preempt count, by 1, SOFTIRQ_DISABLE_OFFSET and so on;
	 * of the call of ct_idle_exit(). See preempt.S
	 */
	uint32_t preempt_inc, preempt_dec, bh_disable, bh_lock, bh_enable;
	uint32_t softirq_enter, softirq_exit, hardirq_enter, hardirq_exit;
	uint32_t idle_exit;
	/* Of the calls of preempt_count_add() and _sub(), and of __local_bh_disable_ip(). */
	uint32_t count_add, count_sub, bh_disable_call;
	uint32_t work; /* the function of a struct work_struct at WINDOW_WORK */
	/* Handlers of a kprobe and of a kretprobe; and where they call the host. */
	uint32_t kprobe, kretprobe, kprobe_call;
	uint32_t kretprobe_entry; /* of one that keeps arguments: at the function's entry */
	/* The same with traps: the host takes the hit at _trap, two bytes. */
	uint32_t kprobe_stop, kretprobe_stop, kprobe_trap;
	/* Probes of a tracepoint that do as these two handlers do. */
	uint32_t tracepoint, tracepoint_stop;
	/* Handlers of a uprobe, and of its return, likewise; and what counts calls for the latter.
	 */
	uint32_t uprobe, uretprobe, uprobe_stop, uretprobe_stop, uprobe_called;
	/* Those of them that the kernel calls by address: their types are in front of them. */
	struct {
		uint32_t entry;
		enum call_type type;
	} called[PAYLOAD_CALLED];
	uint32_t size; /* bytes of code */
	/*
	 * In code at [from, to) nothing has been done yet but the call that got here, or all is
	 * done and only a return is left. Anywhere else preempt_count is raised, so no task is ever
	 * preempted there.
	 */
	struct payload_way_out edge[PAYLOAD_EDGES];
	uint32_t nr_edges;
};

/*
 * Write the code into buf (WINDOW_TEXT_SIZE bytes). 0, or with the name of a member of cfg in
 * *what: -ERANGE, it does not fit, or -ENOENT, it is PAYLOAD_NONE and must not be.
 */
int payload_text_make(const struct payload_config *cfg, uint8_t *buf, struct payload_text *text,
		      const char **what);

/* The form's bytes as they are at this run-time address. */
void payload_form_make(const struct payload_form *form, uint64_t va,
		       uint8_t bytes[PAYLOAD_FORM_MAX]);

#endif
