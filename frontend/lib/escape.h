/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * escape.h - text that a guest has had a say in, made fit for a terminal.
 *
 * Terminals obey control characters: they move the cursor, rename windows, answer with input. All
 * but tabs and line ends become \xNN: C0 (0x00-0x1f), DEL, C1 (U+0080-U+009f, as UTF-8 and as
 * bytes), and what is no UTF-8, which terminals of another character set might obey. Other UTF-8
 * stays what it is.
 */
#ifndef HVTRACE_FRONTEND_LIB_ESCAPE_H
#define HVTRACE_FRONTEND_LIB_ESCAPE_H

#include <stddef.h>

#include "tracer/tracer.h"

/* What is between two calls: the bytes of a character whose others have yet to come. */
struct escape {
	unsigned char part[4];
	size_t len;
};

/* Add it to a text, but for a character that is not whole yet. */
void escape_add(struct escape *e, struct text *to, const char *text, size_t len);
/* No more comes: what is not whole is none. */
void escape_end(struct escape *e, struct text *to);

#endif
