/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * child.h - a program that is asked over its standard input and output, and ends with all that it
 * has started: when it is told to, or when hvtrace is there no more, however that has ended.
 */
#ifndef HVTRACE_FRONTEND_IMAGE_CHILD_H
#define HVTRACE_FRONTEND_IMAGE_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct cancel;

struct child {
	pid_t guard; /* the process that ends the others */
	int in, out; /* the program's standard input and output; -1: not there */
	int errors;  /* a file with what it says on stderr */
	int life;    /* its end ends the program */
	const struct cancel *cancel;
	int64_t deadline_ms;
};

struct child_config {
	const char *program; /* its path: child_find() */
	const char *const *argv;
	const char *const *env; /* "NAME=VALUE", beside what there is and instead of it */
	uint64_t file_max;	/* bytes of each file that it writes */
	int64_t time_ms;	/* that it may take in all */
	/* SIGTERM is not for it but for what it has started: it ends, and cleans up, for want of
	 * that, or of standard input. */
	bool ends_last;
	const struct cancel *cancel; /* NULL: nobody gives up */
};

/* Where the program is, by $PATH; false: nowhere. */
bool child_find(const char *name, char *path, size_t size);
/* 0 or -errno. */
int child_start(struct child *c, const struct child_config *cfg);
/* 0, -EPIPE (it has ended), or -errno. */
int child_write(const struct child *c, const char *text, size_t len);
/* A number of bytes; 0: there come no more; -ECANCELED, -ETIMEDOUT, -errno. */
ssize_t child_read(const struct child *c, char *buf, size_t size);
/* How many bytes it has said on stderr so far. */
int64_t child_said(const struct child *c);
/*
 * What it said from there on, as a line: of the first line with that in it what stands behind, else
 * of the first one all. Control characters are dots. "": it has said nothing.
 */
void child_error(const struct child *c, int64_t from, const char *behind, char *line, size_t size);
/* Ends it, if it has not by itself, and nothing is read any more: its exit status, 128 and the
 * signal, or -errno. */
int child_end(struct child *c);
/* Waits for its own end before. */
int child_wait(struct child *c);
/* Ends it, and nothing more can be asked. */
void child_free(struct child *c);

#endif
