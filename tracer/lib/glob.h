/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * glob.h - the globs of the filter files: a name, a*, *a, *a*, and with *, ?, [a-z], [!a-z], \ in
 * any place. The kernel's: filter_parse_regex() and lib/glob.c, Linux 6.1.
 */
#ifndef HVTRACE_TRACER_LIB_GLOB_H
#define HVTRACE_TRACER_LIB_GLOB_H

#include <stdbool.h>
#include <stddef.h>

enum glob_type {
	GLOB_FULL,    /* the name itself */
	GLOB_FRONT,   /* a* */
	GLOB_MIDDLE,  /* *a* */
	GLOB_END,     /* *a */
	GLOB_PATTERN, /* any other */
	GLOB_INDEX,   /* begins with a digit: not a glob, matches nothing */
};

struct glob {
	enum glob_type type;
	bool invert;	    /* began with ! */
	const char *search; /* what to look for, without the stars of the simple types */
	size_t len;
};

/* text is changed, and belongs to g from now on. */
void glob_parse(struct glob *g, char *text);
/* Whether name matches; says nothing of g->invert. */
bool glob_match(const struct glob *g, const char *name);
/* The same for a pattern as written; nothing in it but * ? [ \ has a meaning. */
bool glob_pattern_match(const char *pattern, const char *name);

#endif
