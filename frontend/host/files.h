/* SPDX-License-Identifier: GPL-2.0-or-later */
/* files.h - small files below a folder. All give 0 or -errno. */
#ifndef HVTRACE_FRONTEND_HOST_FILES_H
#define HVTRACE_FRONTEND_HOST_FILES_H

#include <stdbool.h>

#include "tracer/tracer.h"

#define FILES_DIRECTORY (O_RDONLY | O_DIRECTORY | O_CLOEXEC)

int files_write(int folder, const char *name, const char *text);
/* All of it, behind what is in text: FILES_MAX bytes at most. */
#define FILES_MAX (64u << 20)
int files_read(int folder, const char *name, struct text *text);
int files_read_fd(int fd, struct text *text);
/* Call see() for each entry, but for . and .., until it gives other than 0: that. */
int files_each(int folder, const char *name, int (*see)(void *arg, const char *name), void *arg);

#endif
