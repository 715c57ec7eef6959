/* SPDX-License-Identifier: GPL-2.0-or-later */
/* file.h - a whole file in memory. */
#ifndef HVTRACE_FRONTEND_LIB_FILE_H
#define HVTRACE_FRONTEND_LIB_FILE_H

#include <stddef.h>

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
void file_free(struct file_bytes *f);
/* What to say of such an error, behind "cannot read FILE: ". */
const char *file_strerror(int err);

#endif
