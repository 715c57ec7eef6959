/* SPDX-License-Identifier: GPL-2.0-or-later */
/* suggest.h - what somebody may have meant who has named what a trace under way does not have. */
#ifndef HVTRACE_FRONTEND_CMD_SUGGEST_H
#define HVTRACE_FRONTEND_CMD_SUGGEST_H

#include <stdbool.h>
#include <stddef.h>

struct control_client;

/* For the end of a message: "; did you mean ...?" of a file that there is not, or "". */
void suggest_file(struct control_client *c, const char *path, char *hint, size_t size);
/*
 * Lines on stderr about the first of the words that a file does not take because it names nothing:
 * a function, an event, a tracer, a clock, an option. False: that is not what is wrong with them.
 */
bool suggest_words(struct control_client *c, const char *file, char *const *words, int nr);
/* The file that lists the words which a file takes; NULL: there is none. */
const char *suggest_list(const char *file);

#endif
