/* SPDX-License-Identifier: GPL-2.0-or-later */
/* watch.h - tells the kernel when a file that somebody polls can be read. */
#ifndef HVTRACE_FRONTEND_MOUNT_WATCH_H
#define HVTRACE_FRONTEND_MOUNT_WATCH_H

#include <stdatomic.h>

#include "frontend/mount/wait.h"

struct fuse_pollhandle;
struct open_file;

struct watch {
	struct waiter waiter;
	struct open_file *file;
	const atomic_bool *ending;	    /* then who polls is told, too */
	struct fuse_pollhandle *_Atomic ph; /* NULL: nobody polls */
};

void watch_init(struct watch *w, struct open_file *file, const atomic_bool *ending);
/* Notify once when the file can be read, and let go of the handle. */
void watch_file(struct watch *w, struct waiting *waiting, struct fuse_pollhandle *ph);
/* The file is closed. */
void watch_exit(struct watch *w, struct waiting *waiting);

#endif
