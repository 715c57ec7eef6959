/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mount.h - a trace under way as a directory of files, named, read and written as the kernel's
 * own /sys/kernel/tracing.
 */
#ifndef HVTRACE_FRONTEND_MOUNT_MOUNT_H
#define HVTRACE_FRONTEND_MOUNT_MOUNT_H

#include <stdbool.h>
#include <stddef.h>

struct tracefs;
struct view;

struct tracefs_config {
	/* Where; it is made if it is not there. NULL: a place named after the guest. */
	const char *dir;
	const char *guest; /* its name */
	bool allow_other;  /* not only this user may look, as far as the modes of files let him */
	/*
	 * Called with arg when it is to be unmounted, for who has given up the right to do that:
	 * somebody else does it then, by tracefs_leave(). May be NULL.
	 */
	void (*unmount)(void *arg);
	void *arg;
};

/*
 * Mount it and serve it, on threads of its own. The view outlives it, and so does nothing of cfg
 * need to. NULL on error, with one line in err.
 */
struct tracefs *tracefs_mount(struct view *view, const struct tracefs_config *cfg, char *err,
			      size_t errlen);
/* The directory. */
const char *tracefs_dir(const struct tracefs *fs);
/*
 * Who waits in a read gets its end; who has files open gets errors from then on. The directory goes
 * if it was made. NULL is allowed.
 */
void tracefs_unmount(struct tracefs *fs);
/*
 * Detach it from its directory, which goes if it was made: in a process that is a copy of the one
 * that serves it. Makes system calls only. 0 or -errno; -EBUSY: it is mounted still.
 */
int tracefs_leave(const struct tracefs *fs);

#endif
