/* SPDX-License-Identifier: GPL-2.0-or-later */
/* nearest.h - which of many names somebody may have meant who has written one that there is not. */
#ifndef HVTRACE_TRACER_LIB_NEAREST_H
#define HVTRACE_TRACER_LIB_NEAREST_H

#include <stddef.h>

enum { NEAREST_LEN = 64 }; /* longer words and names are nobody's slip */

struct nearest {
	char word[NEAREST_LEN], best[NEAREST_LEN];
	unsigned int distance; /* of the best one; the first that is further away than any may be */
	size_t apart;	       /* how much longer or shorter the best one is */
};

/* A pattern (with *, ? or [) is near to nothing. */
void nearest_begin(struct nearest *n, const char *word);
/* One of the names that there are; of several that are equally near the one of most equal length.
 */
void nearest_try(struct nearest *n, const char *name);
/* The best one; NULL: none is near enough. Valid as long as *n. */
const char *nearest_name(const struct nearest *n);
/*
 * "; did you mean NAME?", with what stands before the name, or "" where none is near: for the end
 * of a message. Returns hint.
 */
const char *nearest_hint(const struct nearest *n, const char *before, char *hint, size_t size);

#endif
