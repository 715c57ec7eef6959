/* SPDX-License-Identifier: GPL-2.0-or-later */
/* local.h - what a job is, and what they all share. */
#ifndef HVTRACE_FRONTEND_JOBS_LOCAL_H
#define HVTRACE_FRONTEND_JOBS_LOCAL_H

#include "frontend/jobs/jobs.h"
#include "frontend/jobs/rows.h"
#include "frontend/jobs/tasks.h"

enum { JOB_FIELDS = 8, JOB_EVENTS = 16, JOB_IDS = 65536 };

struct work;

/* Fields that an event has not, or not in this file, are NULL. */
typedef void job_event_fn(struct work *w, const struct tep_format_field *const *field,
			  const struct decode_event *ev);

/* An event that a job understands. */
struct job_event {
	const char *system, *name;
	const char *fields[JOB_FIELDS];
	job_event_fn *event;
	bool beside; /* it tells nothing alone */
};

struct job {
	const char *name;
	struct latency_words words;
	const char *by[8]; /* NULL behind the last */
	const char *needs;
	const struct job_event *events; /* one without a name ends them */
	/* Optional. False: no memory. */
	bool (*begin)(struct work *w);
	void (*before)(struct work *w, const struct decode_event *ev); /* of any event */
	void (*end)(struct work *w);
	void (*free)(struct work *w);
};

struct job_bound {
	const struct job_event *row;
	const struct tep_format_field *field[JOB_FIELDS];
};

/* A job that is being done. */
struct work {
	const struct job *job;
	const struct job_input *in;
	const struct job_config *cfg;
	struct job_result *result;
	void *own; /* the job's */
	enum job_by by;
	struct job_tasks tasks;
	struct rows rows;
	bool failed; /* there was no memory */
	struct job_bound bound[JOB_EVENTS];
	size_t nr_bound;
	uint8_t by_id[JOB_IDS]; /* of bound, one more; 0: none */
};

/* Whether rows are to have it. */
bool job_wants(const struct work *w, int32_t pid);

/* A task, by the name that the field tells if it does. A pointer lasts until the next call. */
struct job_task *job_task(struct work *w, int32_t pid, const struct tep_format_field *comm,
			  const struct decode_event *ev);
/* Something begins now. */
void job_open(struct job_task *t, uint64_t now, uint32_t what);
/* The pid that a field tells; -1: none. */
int32_t job_pid(const struct tep_format_field *field, const struct decode_event *ev);
/*
 * The row of a task, by what cfg->by wants; to: "", or what it was that it did, whose number is
 * `what`. NULL: no memory.
 */
struct latency_row *job_row(struct work *w, const struct job_task *t, unsigned int cpu,
			    uint32_t what, const char *to);
/*
 * The functions of a kernel_stack, whose fields are size and caller, the innermost first; how many
 * there are.
 */
size_t job_stack(const struct tep_format_field *const *field, const struct decode_event *ev,
		 uint64_t func[JOB_STACK_MAX]);
/* The name of a function. buf has room for an address. */
const char *job_function(const struct work *w, uint64_t addr, char buf[24]);

#endif
