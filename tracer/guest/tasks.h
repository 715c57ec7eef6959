/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tasks.h - the tasks of a guest that has booted. */
#ifndef HVTRACE_TRACER_GUEST_TASKS_H
#define HVTRACE_TRACER_GUEST_TASKS_H

#include <stdbool.h>
#include <stdint.h>

#include "tracer/guest/guest.h"

/* Where things lie in the kernel's structures. */
struct task_layout {
	uint64_t init_task;				     /* run-time address */
	uint64_t tasks, signal, thread_node, stack, sp, pid; /* in struct task_struct */
	uint64_t thread_head;				     /* in struct signal_struct */
	uint64_t stack_size;
	uint64_t nr_threads; /* run-time address of the kernel's own count of them; 0: none */
	uint32_t task_size;  /* of struct task_struct */
};

/* 0, or -ENODATA when the kernel's types do not tell. */
int task_layout_learn(struct task_layout *at, const struct guestsym *gs,
		      const struct guest_kernel *g);

struct task {
	uint64_t addr;	/* of its struct task_struct */
	uint64_t stack; /* lowest address of its kernel stack */
	uint64_t sp;	/* where its stack pointer was when it was switched out last */
};

/*
 * Call fn for each thread that the kernel has on its lists (idle tasks are not) until it gives
 * false. The machine is paused, but not for long: 0, or -ELOOP, -EFAULT when guest memory makes no
 * sense, -E2BIG: there are more than the kernel counts, or than there is memory for, -ETIME: most
 * of the time is over that the guest may stand.
 */
int tasks_each(struct guest_kernel *g, const struct task_layout *at,
	       bool (*fn)(void *arg, const struct task *task), void *arg);
/* In words, for behind a colon. */
const char *tasks_strerror(int error);
/* One task by its address: 0 or -EFAULT. */
int task_read(struct guest_kernel *g, const struct task_layout *at, uint64_t addr,
	      struct task *task);

#endif
