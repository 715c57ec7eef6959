/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * snapshot-file.h - the file that a snapshot goes to: it has no name, or another one, until it is
 * whole. What a guest has in its memory is nobody else's: it is of mode 0600.
 */
#ifndef HVTRACE_FRONTEND_SESSION_SNAPSHOT_FILE_H
#define HVTRACE_FRONTEND_SESSION_SNAPSHOT_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct snapshot_file {
	char *path, *part; /* part: its name until then, or NULL */
	int fd;		   /* that can be read, too */
};

/* What is at the path stays for now; it is a regular file, or nothing. 0 or -errno. */
int snapshot_file_open(struct snapshot_file *f, const char *path);
/* Bytes at a place of it: arg is the struct. 0 or -errno. */
int snapshot_file_put(void *arg, const void *data, size_t len, uint64_t at);
/* It takes its place, or is gone, as it is not whole. 0 or -errno. */
int snapshot_file_close(struct snapshot_file *f, bool whole);

#endif
