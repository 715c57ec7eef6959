/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cpio.h - archives that kernels unpack as an initial RAM disk. */
#ifndef HVTRACE_FRONTEND_LIB_CPIO_H
#define HVTRACE_FRONTEND_LIB_CPIO_H

#include <stddef.h>

struct cpio_entry {
	const char *name;
	unsigned int mode; /* as st_mode */
	unsigned int major, minor;
	const void *data; /* of a file; of a link, where it leads */
	size_t size;
};

/*
 * An archive of these, in this order: a folder comes before what is in it. Its length is a multiple
 * of 4, so that another may follow. To be freed by free(); NULL: no memory.
 */
void *cpio_make(const struct cpio_entry *entries, size_t nr, size_t *len);

#endif
