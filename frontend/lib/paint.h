/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * paint.h - what of a line is seen in which colour.
 *
 * The text stays what it is; colours come on its way to the terminal, behind what is done about
 * control characters (escape.h). So nothing below knows of colours, and none come from a guest.
 * Names that look like something else get its colour: no more depends on it.
 */
#ifndef HVTRACE_FRONTEND_LIB_PAINT_H
#define HVTRACE_FRONTEND_LIB_PAINT_H

#include <stddef.h>

#include "tracer/tracer.h"

enum paint {
	PAINT_NOTHING,
	PAINT_MESSAGE, /* "hvtrace: ..." on stderr */
	PAINT_TRACE,   /* the kernel's text of a trace, and trace-cmd report's */
	PAINT_CALLS,   /* tables whose last column is a function */
	PAINT_WINDOWS, /* tables of latencies: FROM -> TO */
	PAINT_GUESTS,  /* hvtrace list */
	PAINT_EVENTS,  /* hvtrace events */
	PAINT_CHECKS,  /* hvtrace check-host */
};

/* A line without its end, or of a message its beginning. */
void paint_line(enum paint as, const char *line, size_t len, struct text *out);

#endif
