/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pid-filter.h - which tasks are traced: set_ftrace_pid and set_ftrace_notrace_pid, set_event_pid
 * and set_event_notrace_pid. Nothing here knows of files or of a guest.
 */
#ifndef HVTRACE_TRACER_FILTER_PID_FILTER_H
#define HVTRACE_TRACER_FILTER_PID_FILTER_H

#include "tracer/filter/pid-list.h"

enum pid_filter_file {
	PID_FILTER_TRACE,   /* set_ftrace_pid, set_event_pid */
	PID_FILTER_NOTRACE, /* set_ftrace_notrace_pid, set_event_notrace_pid */
	PID_FILTER_FILES
};

struct pid_filter {
	struct pid_list *list[PID_FILTER_FILES];
	const char *none; /* what a file reads when there is no list */
	/* A file has changed which tasks are traced; on its thread. May be NULL. */
	void (*changed)(void *arg);
	void *arg;
};

/* All tasks are traced. 0 or -ENOMEM. */
int pid_filter_init(struct pid_filter *f, void (*changed)(void *arg), void *arg);
void pid_filter_exit(struct pid_filter *f);

/* Any thread, at any time; takes no lock. */
static inline bool pid_filter_traces(const struct pid_filter *f, int32_t pid)
{
	const struct pid_list *yes = f->list[PID_FILTER_TRACE], *no = f->list[PID_FILTER_NOTRACE];

	return (!pid_list_on(yes) || pid_list_has(yes, pid)) &&
	       !(pid_list_on(no) && pid_list_has(no, pid));
}

/* There is a list at all: tasks have to be looked at. */
bool pid_filter_on(const struct pid_filter *f);

/* Opened for writing with O_TRUNC. */
void pid_filter_truncate(struct pid_filter *f, enum pid_filter_file file);
/* One write(2): bytes taken or -errno; see pid_list_write(). */
ssize_t pid_filter_write(struct pid_filter *f, enum pid_filter_file file, const char *text,
			 size_t len);
void pid_filter_print(struct pid_filter *f, enum pid_filter_file file, struct text *out);

/* What the options function-fork and event-fork do when a task forks, and when one is gone. Any
 * thread. */
void pid_filter_fork(struct pid_filter *f, int32_t parent, int32_t child);
void pid_filter_task_exit(struct pid_filter *f, int32_t pid);

#endif
