/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fuse.h - libfuse, in the version that is programmed for. */
#ifndef HVTRACE_FRONTEND_MOUNT_FUSE_H
#define HVTRACE_FRONTEND_MOUNT_FUSE_H

#define FUSE_USE_VERSION 312
#include <fuse_lowlevel.h>

#endif
