/* SPDX-License-Identifier: GPL-2.0-or-later */
/* mountpoint.h - the directory that a view is mounted on. */
#ifndef HVTRACE_FRONTEND_MOUNT_MOUNTPOINT_H
#define HVTRACE_FRONTEND_MOUNT_MOUNTPOINT_H

#include <stdbool.h>
#include <stddef.h>

struct mountpoint {
	char dir[512];
	bool made; /* here: it is removed at the end */
};

/*
 * Find or make it; what a killed hvtrace left mounted there is unmounted. dir NULL: hvtrace/GUEST
 * in $XDG_RUNTIME_DIR, as root without that variable in /run. -1 with one line in err.
 */
int mountpoint_init(struct mountpoint *m, const char *dir, const char *guest, char *err,
		    size_t errlen);
void mountpoint_exit(const struct mountpoint *m);
/* What is mounted on it goes, also while files are open there. */
bool mountpoint_unmount(const char *dir);

#endif
