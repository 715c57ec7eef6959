/* SPDX-License-Identifier: GPL-2.0-or-later */
/* output.h - where a report goes. */
#ifndef HVTRACE_FRONTEND_LIB_OUTPUT_H
#define HVTRACE_FRONTEND_LIB_OUTPUT_H

#include "tracer/tracer.h"

/*
 * Write the text to a file, NULL: to standard output, and free it. The exit status; what goes
 * wrong is said on stderr, but for nobody reading any more.
 */
int output_write(struct text *text, const char *path);

#endif
