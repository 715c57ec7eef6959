/* SPDX-License-Identifier: GPL-2.0-or-later */
/* requests.h - what FUSE asks, answered from a view. */
#ifndef HVTRACE_FRONTEND_MOUNT_REQUESTS_H
#define HVTRACE_FRONTEND_MOUNT_REQUESTS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "frontend/tracefs/view.h"

struct fuse_lowlevel_ops;
struct held;

/* The user data of the session. */
struct server {
	struct view *view;
	atomic_bool ending;   /* who waits is to be sent away */
	pthread_mutex_t lock; /* of what follows */
	struct held *held;    /* open files and directories */
};

void server_init(struct server *s, struct view *view);
/* No requests come any more: close what is open. */
void server_exit(struct server *s);

extern const struct fuse_lowlevel_ops server_ops;

#endif
