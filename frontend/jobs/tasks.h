/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tasks.h - what is known of the tasks of a trace while it is read. */
#ifndef HVTRACE_FRONTEND_JOBS_TASKS_H
#define HVTRACE_FRONTEND_JOBS_TASKS_H

#include "frontend/jobs/jobs.h"
#include "frontend/jobs/keyed.h"

enum { JOB_STACK_MAX = 64 };

struct job_stack {
	uint32_t nr;
	uint64_t func[]; /* the innermost first, if nothing else is said */
};

struct job_task {
	int32_t pid, prio;
	char comm[JOB_COMM];
	bool running;		 /* it has a vCPU */
	bool open;		 /* something has begun, and not ended: */
	uint64_t from;		 /* when */
	uint32_t what;		 /* which: the job's */
	uint32_t gap;		 /* how often records had been lost by then */
	struct job_stack *stack; /* where that was; NULL: not known */
	struct job_stack *calls; /* what it is in by function_graph, the outermost first */
};

struct job_tasks {
	struct keyed by_pid;
	struct job_task *task;
	uint32_t nr;
	uint64_t forgotten; /* of which something was open */
};

/* False: no memory. */
bool job_tasks_init(struct job_tasks *t);
void job_tasks_exit(struct job_tasks *t);
/*
 * A pointer lasts until the next call. *made: it is new. Where there is no room others are
 * forgotten for it, of which nothing is open, or else all.
 */
struct job_task *job_tasks_get(struct job_tasks *t, int32_t pid, bool *made);
void job_forget_stack(struct job_task *task);

#endif
