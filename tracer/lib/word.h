/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * word.h - the words that are written to a control file, whatever pieces they come in.
 *
 * The kernel's trace_get_user(): one call takes one word. A word that the end of a write cuts off
 * is kept and goes on with the next write.
 */
#ifndef HVTRACE_TRACER_LIB_WORD_H
#define HVTRACE_TRACER_LIB_WORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct word {
	char *text; /* terminated */
	size_t len, size;
	bool open;   /* there may be more of it to come */
	bool failed; /* one was too long: there will not be another */
};

/* For words of less than size bytes. 0 or -ENOMEM. */
int word_init(struct word *w, size_t size);
void word_free(struct word *w);

/*
 * Take one word out of len (not 0) bytes, and the white space around it; start says that they are
 * written to the beginning of the file. How many bytes that was, or -EINVAL when it is too long.
 */
ssize_t word_take(struct word *w, bool start, const char *text, size_t len);
/* It has been dealt with. */
void word_clear(struct word *w);

/* There is a word, or the beginning of one. */
static inline bool word_loaded(const struct word *w)
{
	return !w->failed && w->len;
}

/* A number as kstrtoul(text, 0) reads it. 0, -EINVAL or -ERANGE. */
int word_number(const char *text, uint64_t *value);

#endif
