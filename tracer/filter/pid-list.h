/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pid-list.h - a list of pids that a file of tracefs holds (set_ftrace_pid and its like).
 *
 * The kernel's struct trace_pid_list and trace_pid_write(). No list is something else than an
 * empty one: it stops to apply. Written by one file at a time or a fork, looked at by any thread
 * without a lock.
 */
#ifndef HVTRACE_TRACER_FILTER_PID_LIST_H
#define HVTRACE_TRACER_FILTER_PID_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "tracer/lib/text.h"

#define PID_LIST_LIMIT (1u << 30) /* MAX_PID, kernel/trace/pid_list.h */

struct pid_list;

struct pid_list *pid_list_new(void);	   /* no list yet. NULL: no memory */
void pid_list_free(struct pid_list *list); /* NULL is allowed */

/* There is a list: those who are not on it are left out. */
bool pid_list_on(const struct pid_list *list);
bool pid_list_has(const struct pid_list *list, int32_t pid);

/*
 * Add the pids of what was written in one write(2): all of them or none. The bytes taken, -EINVAL
 * when a word is no number, -EPERM when a number is too high, -ENOMEM.
 */
ssize_t pid_list_write(struct pid_list *list, const char *text, size_t len);
/* No list any more, as when its file is opened with O_TRUNC for writing. */
void pid_list_clear(struct pid_list *list);
/* The pids in order, a line each. */
void pid_list_print(struct pid_list *list, struct text *out);

/* The option function-fork (event-fork): a child is listed when its parent is. Any thread. */
void pid_list_fork(struct pid_list *list, int32_t parent, int32_t child);
void pid_list_exit(struct pid_list *list, int32_t pid);

#endif
