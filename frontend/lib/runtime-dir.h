/* SPDX-License-Identifier: GPL-2.0-or-later */
/* runtime-dir.h - where the traces under way of this user are found, and mounted. */
#ifndef HVTRACE_FRONTEND_LIB_RUNTIME_DIR_H
#define HVTRACE_FRONTEND_LIB_RUNTIME_DIR_H

#include <stdbool.h>
#include <stddef.h>

/*
 * $XDG_RUNTIME_DIR/hvtrace, for root without such a directory of its own /run/hvtrace; made when
 * asked to. Its path goes to path[] (NULL is allowed), also on error. A descriptor; -ENOENT where
 * there is none, for want of the variable or since it has not been made; -EPERM when it is another
 * user's or others can write to it; or another -errno.
 */
int runtime_dir_open(bool make, char *path, size_t len);

#endif
