/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tasks.h - the tasks of a trace, and the tracks that they have. */
#ifndef HVTRACE_FRONTEND_EXPORT_TASKS_H
#define HVTRACE_FRONTEND_EXPORT_TASKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct task;

enum track_kind {
	TRACK_CALLS = 1, /* what a task calls */
	TRACK_MARKERS,	 /* slices that its user space writes */
	TRACK_WAKEUP,	 /* from where it is woken until it runs */
	TRACK_COUNTER,	 /* a number that user space writes */
	TRACK_IRQS_OFF,	 /* of a vCPU */
	TRACK_PREEMPT_OFF,
	TRACK_HOST, /* what the host does with a vCPU */
};

/* A row of slices, one within another, or of numbers. */
struct track {
	enum track_kind kind;
	bool told; /* the writer's, and what it keeps of it */
	void *own;
	uint32_t open;		 /* slices */
	uint32_t name;		 /* of a counter */
	uint64_t id;		 /* the same for the same track, and no other's; not 0 */
	const struct task *task; /* NULL: of a vCPU */
	unsigned int cpu;
	int32_t tgid; /* of a counter */
};

/* A call that is under way. */
struct frame {
	uint64_t func;
	int32_t depth; /* more than that of the one around it */
	uint32_t name;
};

#define TASKS_COMM 32

/* In one buffer; the idle tasks of vCPUs are one each. */
struct task {
	uint64_t key;
	size_t buffer;
	int32_t pid, tgid, ppid; /* tgid: pid, if it is not known; ppid -1: not known */
	unsigned int cpu;	 /* of an idle one */
	char comm[TASKS_COMM];	 /* clean UTF-8 */
	struct track calls, markers, wakeup;
	struct frame *frame;
	uint32_t nr, room;
};

struct tasks {
	struct task **slot; /* by key */
	uint32_t nr;
	uint32_t frames; /* that there is memory for, of all */
};

/* False: no memory. */
bool tasks_init(struct tasks *t);
void tasks_exit(struct tasks *t);

/* How many there may be, and calls under way of all. */
#define TASKS_MAX  (1U << 16)
#define FRAMES_MAX (1U << 21)
#define DEPTH_MAX  1024 /* more is no stack of a kernel's */

bool tasks_full(const struct tasks *t);
/* NULL: it is not there. */
struct task *tasks_find(const struct tasks *t, size_t buffer, int32_t pid, unsigned int cpu);
/* A new one, where there is none; there is room. NULL: no memory. */
struct task *tasks_add(struct tasks *t, size_t buffer, int32_t pid, unsigned int cpu);
/* False: no memory. */
bool tasks_push(struct tasks *t, struct task *task, const struct frame *frame);
/* Forget those that have no slice open. Pointers to tasks are not valid any more. False: no memory.
 */
bool tasks_sweep(struct tasks *t);

#endif
