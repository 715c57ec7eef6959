/* SPDX-License-Identifier: GPL-2.0-or-later */
/* file.h - a whole file in memory. */
#ifndef HVTRACE_FRONTEND_LIB_FILE_H
#define HVTRACE_FRONTEND_LIB_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct file_bytes {
	const void *data; /* NULL when the file is empty */
	size_t len;
};

/*
 * Read a regular file once: whoever writes to it meanwhile or later changes nothing that has been
 * looked at. 0, -EINVAL (something else than a file), -EFBIG, -ESTALE (it shrank, grew or was
 * written to meanwhile) or -errno.
 */
int file_read(struct file_bytes *f, const char *path);
/* The same of one that has no more than max bytes; -EFBIG: it has, and nothing was read. */
int file_read_upto(struct file_bytes *f, const char *path, uint64_t max);
void file_free(struct file_bytes *f);
/* What to say of such an error, behind "cannot read FILE: ". */
const char *file_strerror(int err);

/*
 * The first directory on an absolute path that not everybody may pass through, in dir[], or the
 * file itself if not everybody may read it. False: there is none.
 */
bool file_closed_to_others(const char *path, char *dir, size_t size);

#endif
