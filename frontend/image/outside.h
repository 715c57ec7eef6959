/* SPDX-License-Identifier: GPL-2.0-or-later */
/* outside.h - images whose data are in other files, which they name themselves. */
#ifndef HVTRACE_FRONTEND_IMAGE_OUTSIDE_H
#define HVTRACE_FRONTEND_IMAGE_OUTSIDE_H

#include <stddef.h>

/*
 * The format of an image that begins with these bytes, if QEMU would open the files that it names
 * already to tell what it is; NULL: it would not. Opening does something to some devices, and what
 * is in them the image's guest would get.
 */
const char *image_is_outside(const unsigned char *begin, size_t len);

#endif
