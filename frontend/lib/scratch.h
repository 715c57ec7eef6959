/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * scratch.h - a folder for files that other programs of this host are to read, and which are to be
 * gone afterwards.
 */
#ifndef HVTRACE_FRONTEND_LIB_SCRATCH_H
#define HVTRACE_FRONTEND_LIB_SCRATCH_H

#include <stddef.h>
#include <sys/types.h>

/* To be zeroed. */
struct scratch {
	char *path;    /* NULL: there is none yet */
	int fd;	       /* locked as long as we live */
	int life;      /* while it is open somebody may need the files */
	pid_t watcher; /* 0: none */
};

/*
 * The folder, made in $TMPDIR, else in /var/tmp, when it is first asked for: others can get to what
 * they know the name of, as far as its mode lets them. What a killed hvtrace of this user has left
 * there goes. NULL: err says why in one line.
 */
const char *scratch_folder(struct scratch *s, char *err, size_t errlen);
/*
 * A process is forked that takes them away once this one and all that are forked later have ended,
 * should this one be killed; those may have no right to do so. It has no threads before. 0 or
 * -errno.
 */
int scratch_watch(struct scratch *s);
/* Its files go, and it. Those who have them open keep them. */
void scratch_remove(struct scratch *s);
/*
 * Instead of that: they stay, by another name, which no hvtrace takes for that of a dead one's.
 * free() it. NULL: they are where they were, and will go.
 */
char *scratch_keep(struct scratch *s);

#endif
