/* SPDX-License-Identifier: GPL-2.0-or-later */
/* requests.h - what FUSE asks, answered from a view. */
#ifndef HVTRACE_FRONTEND_MOUNT_REQUESTS_H
#define HVTRACE_FRONTEND_MOUNT_REQUESTS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "frontend/mount/wait.h"
#include "frontend/tracefs/view.h"

struct fuse_lowlevel_ops;
struct held;

/*
 * How many reads may wait on a thread each, which they are then woken at once on; all others wait
 * together on one.
 */
#define READS_WITH_THREAD 32

/* The user data of the session. */
struct server {
	struct view *view;
	atomic_bool ending; /* who waits is to be sent away */
	atomic_uint reads;  /* that wait on a thread of theirs */
	struct waiting waiting;
	pthread_mutex_t lock; /* of what follows */
	struct held *held;    /* open files and directories */
};

void server_init(struct server *s, struct view *view);
/* No requests come any more: close what is open. */
void server_exit(struct server *s);

extern const struct fuse_lowlevel_ops server_ops;

#endif
