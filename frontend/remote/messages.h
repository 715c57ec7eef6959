/* SPDX-License-Identifier: GPL-2.0-or-later */
/* messages.h - what the other host's hvtrace has to say, on the stderr of this one. */
#ifndef HVTRACE_FRONTEND_REMOTE_MESSAGES_H
#define HVTRACE_FRONTEND_REMOTE_MESSAGES_H

#include <stddef.h>
#include <stdint.h>

#include "tracer/tracer.h"

struct messages {
	const char *host; /* to be set; all else is zero */
	struct text line; /* that is not whole yet */
};

/*
 * Each line behind the name of the host. Whoever may have said it, nothing in it is for a terminal
 * to obey, nor for who reads a log to be taken in by.
 */
void messages_add(struct messages *m, const uint8_t *text, size_t len);
/* No more comes: what there is of a line is one. */
void messages_end(struct messages *m);

#endif
