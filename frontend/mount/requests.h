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
	atomic_bool
		ending; /* who waits is to be sent away: what is there is read, and then the end */
	atomic_bool over;  /* the end is all that such files have */
	atomic_uint reads; /* that wait on a thread of theirs */
	struct waiting waiting;
	pthread_mutex_t lock; /* of what follows */
	struct held *held;    /* open files and directories */
	unsigned int waiters; /* of the files, those whose readers wait for more */
	pthread_cond_t closed;
};

void server_init(struct server *s, struct view *view);
/*
 * While requests are still served: have readers that wait for more come to the end of their files.
 * Returns when they have closed them, or after some tenths of a second.
 */
void server_see_off(struct server *s);
void see_off_init(struct server *s); /* of server_init() */
/* So many more of a file's handles are open, if its readers wait for more. */
void server_count_waiter(struct server *s, const struct open_file *file, int more);
/* No requests come any more: close what is open. */
void server_exit(struct server *s);

extern const struct fuse_lowlevel_ops server_ops;

#endif
