/* SPDX-License-Identifier: GPL-2.0-or-later */
/* again.h - a trace that could not be written is kept until whoever sits there has made room. */
#ifndef HVTRACE_FRONTEND_SESSION_AGAIN_H
#define HVTRACE_FRONTEND_SESSION_AGAIN_H

#include <stdbool.h>
#include <stdio.h>

struct cancel;

/*
 * Ask at the terminal whether to write it again, to a stream of output_open(), which is empty then.
 * False: there is nobody to ask, or nothing to be tried: a pipe, or Ctrl-C. error: what went wrong,
 * a negative errno; name: of the output.
 */
bool again_is_wanted(FILE *out, const char *name, int error, const struct cancel *cancel);

#endif
