/* SPDX-License-Identifier: GPL-2.0-or-later */
/* mountpoint.h - the directory that a view is mounted on. */
#ifndef HVTRACE_FRONTEND_MOUNT_MOUNTPOINT_H
#define HVTRACE_FRONTEND_MOUNT_MOUNTPOINT_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/* Its name is always looked up in the directory that it was found in: nobody else can move it. */
struct mountpoint {
	char dir[512];	      /* its path, for the user */
	char above[PATH_MAX]; /* absolute: of the directory that it is in */
	char name[NAME_MAX + 1];
	char place[NAME_MAX + 32]; /* its path for mount(2) and umount(2), while it is there */
	int parent;		   /* descriptor */
	bool made;		   /* here: it is removed at the end */
};

/*
 * Find or make it; what a killed hvtrace left mounted there is unmounted. dir NULL: GUEST in
 * runtime_dir_open(), which others may pass through from then on if `others` may open the files. It
 * is the user's, no link, and no other user has a say in its path. -1 with one line in err.
 */
int mountpoint_init(struct mountpoint *m, const char *dir, const char *guest, bool others,
		    char *err, size_t errlen);
/* Its directory goes if it was made. */
void mountpoint_exit(struct mountpoint *m);
/*
 * What is mounted on it goes, also while files are open there, and then the directory if it was
 * made: for a process that has a copy of the mount point and not its descriptor. Its path is looked
 * at as before. 0 or -errno: -EBUSY, something is mounted there still.
 */
int mountpoint_leave(const struct mountpoint *m);

#endif
