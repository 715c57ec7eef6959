/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * statements.h - a text as its statements: a key with its value, or the header of a table, each
 * with the lines that belong to it.
 *
 * The grammar is given one at a time. A mistake in one hides nothing of the next then, and what the
 * library does about a mistake takes a time that grows with the square of the length: of a thousand
 * lines it takes seconds, and of more than 65535 words in one mistake memory that is not its own.
 */
#ifndef HVTRACE_FRONTEND_CONFIG_TOML_STATEMENTS_H
#define HVTRACE_FRONTEND_CONFIG_TOML_STATEMENTS_H

#include <stdbool.h>
#include <stddef.h>

struct mistakes;

struct statement {
	const char *text; /* with the end of its last line, if that has one */
	size_t len;
	unsigned int line; /* that it begins in */
};

struct statements {
	const char *at, *end; /* what is left */
	unsigned int line;
	struct mistakes *mistakes;
};

/* Whether all of a text is UTF-8, without control characters. If not, that has been told. */
bool toml_statements_are_text(const char *text, size_t len, struct mistakes *m);
/*
 * The next one whose strings and brackets have an end; of others it is told that they have none.
 * False: there is none.
 */
bool toml_statements_next(struct statements *all, struct statement *s);

#endif
