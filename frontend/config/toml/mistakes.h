/* SPDX-License-Identifier: GPL-2.0-or-later */
/* mistakes.h - what is told of a text that is no TOML. */
#ifndef HVTRACE_FRONTEND_CONFIG_TOML_MISTAKES_H
#define HVTRACE_FRONTEND_CONFIG_TOML_MISTAKES_H

#include "frontend/config/toml/statements.h"
#include "frontend/config/toml/toml.h"

struct mistakes {
	struct toml_ear ear;
	unsigned int nr;
};

void toml_mistake(struct mistakes *m, unsigned int line, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* There have been so many that nobody wants more. */
bool toml_mistakes_are_enough(const struct mistakes *m);
void toml_mistake_no_memory(struct mistakes *m);

/*
 * What is wrong with a statement of which the grammar says no more than that something is, in line.
 */
void toml_mistake_in_statement(struct mistakes *m, const struct statement *s, unsigned int line);
/* The value of a statement, as far as it has one; NULL: there is no = before it. */
const char *toml_statement_value(const struct statement *s);
/* A word where a value has to be, of a statement that has a =. False: it does not look like one;
 * nothing was told. */
bool toml_mistake_is_word(struct mistakes *m, const struct statement *s, const char *word,
			  unsigned int line);

#endif
