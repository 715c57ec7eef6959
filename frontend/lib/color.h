/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * color.h - whether people see what is written in colours, and which ones there are.
 *
 * Terminals do; files and pipes never do, unless somebody asks for it (--color always). NO_COLOR
 * (https://no-color.org) and TERM=dumb say no, CLICOLOR_FORCE says yes; --color overrules them all.
 */
#ifndef HVTRACE_FRONTEND_LIB_COLOR_H
#define HVTRACE_FRONTEND_LIB_COLOR_H

#include <stdbool.h>
#include <stddef.h>

#include "tracer/tracer.h"

enum color {
	COLOR_NONE,
	COLOR_HEADING,
	COLOR_FAINT,	/* what is there for the sake of completeness */
	COLOR_FUNCTION, /* names of functions */
	COLOR_EVENT,	/* of events */
	COLOR_GOOD,
	COLOR_WARN,
	COLOR_BAD,
};

/* What --color says, of all that is written from then on. False: it is none of color_when(). */
bool color_choose(const char *when);
/* "auto", "always", "never"; NULL behind the last one. */
const char *color_when(unsigned int i);

/* Whether it is wanted of text for a person who sits at a terminal, or does not. */
bool color_is_wanted(bool terminal);

/* The text in this colour. */
void color_add(struct text *to, enum color color, const char *text, size_t len);

#endif
