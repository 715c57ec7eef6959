/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * words.h - the words of a command that defines a probe event, and where in it something is
 * wrong: the kernel's trace_probe_log.
 */
#ifndef HVTRACE_TRACER_EVENTS_DEFINE_WORDS_H
#define HVTRACE_TRACER_EVENTS_DEFINE_WORDS_H

#include <stddef.h>
#include <stdint.h>

struct probe_words {
	char *text; /* the words, each terminated, one behind the other */
	char **v;
	unsigned int n;
};

/* 0 or -ENOMEM. */
int probe_words_split(struct probe_words *w, const char *line);
void probe_words_free(struct probe_words *w);

/* For error_log_add(). what is NULL when the kernel logs nothing. */
struct probe_error {
	const char *what;
	unsigned int word; /* which of the command it is about */
	size_t offset;	   /* and where in that */
};

static inline int probe_error_set(struct probe_error *err, int ret, unsigned int word,
				  size_t offset, const char *what)
{
	*err = (struct probe_error){what, word, offset};
	return ret;
}

/* The command with single spaces, to be freed, and where the error is in that. NULL: no memory. */
char *probe_error_command(const struct probe_words *w, const struct probe_error *err,
			  uint16_t *pos);

#endif
