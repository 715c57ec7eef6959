/* SPDX-License-Identifier: GPL-2.0-or-later */
/* output.h - where a report goes. */
#ifndef HVTRACE_FRONTEND_LIB_OUTPUT_H
#define HVTRACE_FRONTEND_LIB_OUTPUT_H

#include <stdio.h>

#include "tracer/tracer.h"

struct cancel;

/*
 * Write the text to a file, NULL: to standard output, and free it. The exit status; what goes
 * wrong is said on stderr, but for nobody reading any more.
 */
int output_write(struct text *text, const char *path);

/*
 * A stream to a file, NULL: to standard output, that is to be closed. Who does not read a pipe or a
 * terminal does not hold it: once it is asked to end, writing fails with ECANCELED. NULL and errno
 * on error.
 */
FILE *output_open(const char *path, const struct cancel *cancel);

#endif
