/* SPDX-License-Identifier: GPL-2.0-or-later */
/* file.h - a whole file in memory. */
#ifndef HVTRACE_FRONTEND_LIB_FILE_H
#define HVTRACE_FRONTEND_LIB_FILE_H

#include <stddef.h>

struct file_map {
	const void *data; /* NULL when the file is empty */
	size_t len;
};

/* Map a regular file for reading: 0 or -errno. */
int file_map(struct file_map *f, const char *path);
void file_unmap(struct file_map *f);

#endif
