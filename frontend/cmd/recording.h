/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * recording.h - a guest is traced for what a command finds in its trace: recorded to a file, by a
 * process of its own, as hvtrace record does.
 */
#ifndef HVTRACE_FRONTEND_CMD_RECORDING_H
#define HVTRACE_FRONTEND_CMD_RECORDING_H

#include <stdbool.h>

struct recording {
	const char *path; /* of the file */
	bool temporary;	  /* with its directory it is no more needed once it is open */
	char made[4096];
};

/*
 * trace() traces and records to a path, and gives an exit status; keep is the file's, NULL: one of
 * $TMPDIR or /var/tmp. Ctrl-C ends the tracing. The exit status; nothing is recorded, and that was
 * said, when path is NULL. It has no threads before.
 */
int recording_make(struct recording *r, const char *keep,
		   int (*trace)(const void *arg, const char *path), const void *arg);
/*
 * Anything with that file that is done by a process of its own, as it gives up rights that are
 * still needed. The exit status.
 */
int recording_apart(int (*run)(const void *arg, const char *path), const void *arg,
		    const char *path);
/* Nobody is to have it: remove what is temporary of it. path is NULL then. */
void recording_discard(struct recording *r);

#endif
