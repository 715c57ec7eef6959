/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * suggest.h - what somebody may have meant whom a trace has refused something: who has named what
 * it does not have, or written to a file what that does not take.
 */
#ifndef HVTRACE_FRONTEND_SESSION_SUGGEST_H
#define HVTRACE_FRONTEND_SESSION_SUGGEST_H

#include <stdbool.h>
#include <stddef.h>

struct text;

/* How files of the trace are read, and directories: a name in each line. */
struct trace_reader {
	int (*read)(void *arg, const char *path, struct text *to); /* 0 or -errno */
	void *arg;
	bool begun; /* hvtrace get reaches the trace, too */
};

/* For the end of a message: "; did you mean ...?" of a file that there is not, or "". */
void suggest_file(const struct trace_reader *r, const char *path, char *hint, size_t size);
/*
 * Why writing these words to a file has failed with rc, a negative errno: what the error_log of its
 * instance has noted of them, in several lines; or one line: which of them names nothing, or what
 * the file takes. Nothing is added to *why where that is not known.
 */
void suggest_words(const struct trace_reader *r, int rc, const char *file, const char *const *words,
		   int nr, struct text *why);
/* The file that lists the words which a file takes; NULL: there is none. */
const char *suggest_list(const char *file);

#endif
