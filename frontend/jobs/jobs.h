/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * jobs.h - common questions to a trace.dat file, answered from its events: how long tasks wait for
 * a vCPU, how long they are off it and why, what system calls take, how long windows are.
 *
 * What is in a file is anybody's. Memory does not grow with its length: there are no more rows,
 * tasks and stacks than the limits below, and what there is no room for is counted.
 */
#ifndef HVTRACE_FRONTEND_JOBS_JOBS_H
#define HVTRACE_FRONTEND_JOBS_JOBS_H

#include <stdio.h>

#include "frontend/decode/formats.h"
#include "frontend/report/calltree.h"
#include "frontend/report/latency.h"

#define JOB_ROWS_MAX  8192
#define JOB_TASKS_MAX (1U << 16)
#define JOB_COMM      16 /* TASK_COMM_LEN */
#define JOB_WHO	      3	 /* so many of who ran instead are named */

/* All open, and nothing read of the records yet. Times are nanoseconds. */
struct job_input {
	struct dat *dat;
	struct formats *formats; /* loaded */
	struct records *records; /* of one buffer */
};

enum job_by { JOB_BY_TASK, JOB_BY_NAME, JOB_BY_CPU, JOB_BY_PRIO, JOB_BY_CALL, JOB_BY_REASON };

struct job_config {
	const char *by;	     /* what a row is; NULL: what the job says itself */
	const int32_t *pids; /* only these tasks; none: all */
	size_t nr_pids;
	size_t worst;	  /* so many of the longest are kept one by one */
	const char *kind; /* of windows: a tracer's name; NULL: what the file has */
};

struct job_run {
	int32_t pid;
	char comm[JOB_COMM];
	uint64_t ns;
};

/* One that took long. */
struct job_wait {
	uint64_t from, ns;
	unsigned int cpu;
	bool preempted;		     /* it waited without having slept */
	struct job_run task;	     /* ns: 0 */
	struct job_run who[JOB_WHO]; /* had the vCPU meanwhile, longest first; ns 0: nobody more */
};

struct boot;

struct job_result {
	struct latency_report report;
	struct job_wait *worst; /* the longest first */
	size_t nr_worst;
	struct calltree *stacks; /* where they began, by the functions they were in; NULL: none */
	struct boot *boot;	 /* of job_boot; NULL: of another */
	uint64_t events;	 /* that the job goes by */
	uint64_t unbegun;	 /* ends whose beginning is not in the trace */
	uint64_t unended;	 /* beginnings whose end is not */
	uint64_t late;		 /* events whose times went back, which were put right */
	uint64_t left_out;	 /* of tasks that there was no room for */
};

struct job;

extern const struct job job_offcpu;
extern const struct job job_syscalls;
extern const struct job job_wakeups;
extern const struct job job_windows;

/* What --by may be, from 0 on, the usual one first; NULL behind the last one. */
const char *job_by_name(const struct job *job, unsigned int i);
/* The events that it goes by, for people: "sched:sched_switch". */
const char *job_needs(const struct job *job);

/* Read all records. 0 or -ENOMEM; job_result_free() in any case. cfg->by is one of its own. */
int job_read(const struct job *job, const struct job_input *in, const struct job_config *cfg,
	     struct job_result *r);
void job_result_free(struct job_result *r);

/* --- json.c ----------------------------------------------------------------------------------- */

/* The rows, no more than that, and the worst, as one object. */
void job_json(const struct job_result *r, size_t rows, FILE *out);

/* --- worst.c ---------------------------------------------------------------------------------- */

void job_render_worst(const struct job_result *r, struct text *out);

#endif
