/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * target.h - the file or folder that a command writes. It is made beside the one that is to be
 * written, and takes its place once it is whole: whatever goes wrong before leaves what was there.
 */
#ifndef HVTRACE_FRONTEND_SANDBOX_TARGET_H
#define HVTRACE_FRONTEND_SANDBOX_TARGET_H

#include <stdbool.h>
#include <stdio.h>

struct broker;
struct cancel;

/* Zero-initialise. */
struct target {
	FILE *out;	/* NULL: it is a folder */
	int fd;		/* beneath out, for who writes at places of it; only of a file beside */
	int folder;	/* its descriptor, of O_PATH */
	bool is_beside; /* else it is written as it stands: pipes, devices, links, stdout */
	bool is_file;	/* that stands, and may have something in it */
	bool begun;
	char *path;  /* where it goes; links in its folder's name are resolved */
	char *part;  /* where it is made: of a file the file, of a folder one that it is in */
	char *inner; /* the folder in that, which is not there yet */
	struct broker *broker;
};

/*
 * To a file; NULL: stdout. What is written where it stands is not emptied before target_begin().
 * cancel, or NULL, ends waiting for someone who reads a FIFO. 0, or a negative errno.
 */
int target_open_file(struct target *t, const char *path, const struct cancel *cancel);
/* A folder that is not there, or empty. 0, -ENOTEMPTY, -ENOTDIR or another negative errno. */
int target_open_folder(struct target *t, const char *path);
/*
 * Before rights are given up: from then on another process puts it in its place, and takes it away
 * if this one ends before that. 0 or -errno.
 */
int target_keep_rights(struct target *t);
/* There is something to write. 0 or -errno. */
int target_begin(struct target *t);
/*
 * Close it; whole: all is in it. 0, or what went wrong with writing, a negative errno. Of one that
 * is not whole nothing is left.
 */
int target_close(struct target *t, bool whole);

#endif
