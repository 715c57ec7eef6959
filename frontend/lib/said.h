/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * said.h - what a process of hvtrace's own says on its stderr, line by line, without the "hvtrace:
 * " in front: for who passes it on with a name of its own there.
 */
#ifndef HVTRACE_FRONTEND_LIB_SAID_H
#define HVTRACE_FRONTEND_LIB_SAID_H

#include <stddef.h>

#define SAID_LINE 1024

struct said {
	int fd; /* the end of a pipe that is read; -1: it has said its last */
	void (*line_is)(void *arg, const char *line, size_t len); /* without its end */
	void *arg;
	char line[SAID_LINE]; /* the begin of one */
	size_t len;
};

/* fd is closed at its end. A line that is longer than SAID_LINE comes in pieces. */
void said_begin(struct said *s, int fd, void (*line_is)(void *arg, const char *line, size_t len),
		void *arg);
/* It can be read: never waits. */
void said_hear(struct said *s);
/*
 * The process has ended, and what it has said is in the pipe: take that, and close it. What it had
 * started may have the pipe still, and say more: nobody waits for that.
 */
void said_end(struct said *s);

#endif
