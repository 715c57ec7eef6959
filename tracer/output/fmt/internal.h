/* SPDX-License-Identifier: GPL-2.0-or-later */
/* internal.h - shared by the files that parse the expressions of print fmts. */
#ifndef HVTRACE_TRACER_OUTPUT_FMT_INTERNAL_H
#define HVTRACE_TRACER_OUTPUT_FMT_INTERNAL_H

#include "tracer/output/fmt/expr.h"

enum {
	NESTING_MAX = 128, /* of the text */
	DEPTH_MAX = 256,   /* of a tree: a + b + c is two deep */
	NAME_MAX_LEN = 128,
};

#define NR(array) (sizeof(array) / sizeof((array)[0]))

/* --- expr-words.c ---------------------------------------------------------------------- */

/* NULL also when that makes the tree too deep. */
struct expr *expr_new(struct expr_parser *p, enum expr_kind kind, struct expr *a);
/* One more operand. False: there is none, or the tree is too deep. */
bool expr_set(struct expr *e, struct expr **operand, struct expr *value);

void expr_skip_blanks(struct expr_parser *p);
bool expr_is_name_char(char c);
/* Skip this word if it is the next. */
bool expr_skip_word(struct expr_parser *p, const char *word);
/* The character that an escape behind a backslash stands for. */
char expr_take_escape(struct expr_parser *p);
bool expr_take_name(struct expr_parser *p, char name[NAME_MAX_LEN]);

/* --- expr-types.c ---------------------------------------------------------------------- */

/* The type that comes next, if it is one that is known. */
bool expr_take_type(struct expr_parser *p, struct expr_type *type);

/* --- expr-calls.c ---------------------------------------------------------------------- */

/* Behind the function's name. NULL: it is none that print fmts call, or makes no sense. */
struct expr *expr_parse_call(struct expr_parser *p, const char *name);

/* --- expr.c ---------------------------------------------------------------------------- */

/* NULL: the event has none of that name. */
const struct guestsym_event_field *expr_find_field(const struct expr_parser *p, const char *name);
/* The lowest level: a ? b : c, and all that binds closer. */
struct expr *expr_parse_choice(struct expr_parser *p);

#endif
