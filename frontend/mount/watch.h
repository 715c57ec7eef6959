/* SPDX-License-Identifier: GPL-2.0-or-later */
/* watch.h - tells the kernel when a file that somebody polls can be read. */
#ifndef HVTRACE_FRONTEND_MOUNT_WATCH_H
#define HVTRACE_FRONTEND_MOUNT_WATCH_H

struct fuse_pollhandle;
struct open_file;
struct watch;

/*
 * Notify once when the file can be read, and let go of the handle. *w is the file's watch, NULL
 * before the first time; one call at a time for each file.
 */
void watch_file(struct watch **w, struct open_file *file, struct fuse_pollhandle *ph);
/* The file is closed. NULL is allowed. */
void watch_free(struct watch *w);

#endif
