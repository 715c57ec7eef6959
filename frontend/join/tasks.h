/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tasks.h - names of tasks of several guests in the one table that a file has for them.
 *
 * Guests have the same pids for different tasks. A pid is in that table if all guests in which it
 * comes up have the same name for it; of others readers say that they do not know it, and hvtrace
 * finds the names in the description of each guest.
 */
#ifndef HVTRACE_FRONTEND_JOIN_TASKS_H
#define HVTRACE_FRONTEND_JOIN_TASKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "frontend/dat/dat.h"
#include "tracer/tracer.h"

/* PID_MAX_LIMIT of a 64-bit kernel; others that a file may have are in no table. */
#define JOIN_PIDS (UINT32_C(1) << 22)

struct join_names; /* pids and names of a guest */

struct join_tasks {
	struct text text[DAT_PARTS_MAX]; /* as each file has them */
	uint8_t *seen;			 /* of the guest at hand: a bit for each pid in a record */
	struct join_names *names;	 /* of all */
	size_t nr, room;
};

/* 0 or -ENOMEM. */
int join_tasks_init(struct join_tasks *t);
void join_tasks_exit(struct join_tasks *t);
/* A record of the guest at hand has this pid. */
void join_tasks_see(struct join_tasks *t, int pid);
/* All records of guest i have been seen: take over its names. 0 or -ENOMEM. */
int join_tasks_end(struct join_tasks *t, size_t i, const struct dat_text *cmdlines);
/* The table of all, in the order of pids. */
void join_tasks_write(struct join_tasks *t, struct text *to);

#endif
