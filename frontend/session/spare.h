/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * spare.h - where a trace goes whose output cannot be written, or is read by nobody any more: a
 * file in $TMPDIR or /var/tmp, that has a name only then.
 */
#ifndef HVTRACE_FRONTEND_SESSION_SPARE_H
#define HVTRACE_FRONTEND_SESSION_SPARE_H

#include <stdio.h>
#include <sys/types.h>

struct spare {
	FILE *file;	/* NULL: there is none */
	char path[256]; /* that it will have */
	int fd;		/* of the file, in the process that has opened it: */
	pid_t pid;
	dev_t dev;
	ino_t ino;
};

/* While files can be opened. Without one is no error. */
void spare_open(struct spare *s);
/* Give it its name, in a process that may. 0 or -errno. */
int spare_name(const struct spare *s);
void spare_close(struct spare *s);

#endif
