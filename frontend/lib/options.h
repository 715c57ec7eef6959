/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * options.h - command-line options from one table: a row is parsed, checked and printed by --help.
 */
#ifndef HVTRACE_FRONTEND_LIB_OPTIONS_H
#define HVTRACE_FRONTEND_LIB_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "frontend/lib/color.h"

/* Values of a repeated option, in the order given. Zero-initialise; option_list_free(). */
struct option_list {
	const char **values;
	size_t nr;
};

enum option_kind {
	OPTION_FLAG,
	OPTION_STRING,
	OPTION_LIST,
	OPTION_NUMBER,
	OPTION_SIZE_KB,
	OPTION_SIZE_MB,
	OPTION_TIME,
	OPTION_COLOR,
};

/*
 * What completes a value or an operand in a shell. NULL: what its name in capitals says, if that is
 * one of those in options-complete.c. The first ones are the shell's, others are kinds of
 * frontend/cmd/candidates.c.
 */
#define COMPLETE_NOTHING	""
#define COMPLETE_FILE		"file"
#define COMPLETE_DIRECTORY	"directory"
#define COMPLETE_DOMAIN_OR_FILE "domain-or-file"

/* One option. Make rows with the OPT_* macros, which check the variable's type. */
struct option_row {
	char letter;	  /* 0: long form only */
	const char *name; /* NULL ends the table */
	const char *arg;  /* what --help calls the argument */
	const char *help;
	enum option_kind kind;
	void *value;
	uint64_t min, max; /* of numbers */
	/* The values that there are, i from 0 on, up to NULL; others are refused. NULL: any. */
	const char *(*names)(unsigned int i);
	const char *complete; /* a value, in the row that ends the table operands */
};

#define OPT_VALUE(type, p) (1 ? (p) : (type *)0)
#define OPT_FLAG(l, n, p, h)                                                                       \
	{                                                                                          \
		l, n, NULL, h, OPTION_FLAG, OPT_VALUE(bool, p), 0, 0, NULL, NULL                   \
	}
#define OPT_STRING(l, n, p, a, h) OPT_STRING_OF(NULL, l, n, p, a, h)
#define OPT_LIST(l, n, p, a, h)	  OPT_LIST_OF(NULL, l, n, p, a, h)
/* Strings that a shell completes with c. */
#define OPT_STRING_OF(c, l, n, p, a, h)                                                            \
	{                                                                                          \
		l, n, a, h, OPTION_STRING, OPT_VALUE(const char *, p), 0, 0, NULL, c               \
	}
#define OPT_LIST_OF(c, l, n, p, a, h)                                                              \
	{                                                                                          \
		l, n, a, h, OPTION_LIST, OPT_VALUE(struct option_list, p), 0, 0, NULL, c           \
	}
/* One of the names that f gives. */
#define OPT_ONE_OF(f, l, n, p, a, h)                                                               \
	{                                                                                          \
		l, n, a, h, OPTION_STRING, OPT_VALUE(const char *, p), 0, 0, f, NULL               \
	}
#define OPT_NUMBER(l, n, p, lo, hi, a, h)                                                          \
	{                                                                                          \
		l, n, a, h, OPTION_NUMBER, OPT_VALUE(uint64_t, p), lo, hi, NULL, NULL              \
	}
/* Megabytes, or with a suffix K, M, G; stored in bytes. */
#define OPT_SIZE_MB(l, n, p, lo, hi, a, h)                                                         \
	{                                                                                          \
		l, n, a, h, OPTION_SIZE_MB, OPT_VALUE(uint64_t, p), lo, hi, NULL, NULL             \
	}
/* The same of kilobytes. */
#define OPT_SIZE_KB(l, n, p, lo, hi, a, h)                                                         \
	{                                                                                          \
		l, n, a, h, OPTION_SIZE_KB, OPT_VALUE(uint64_t, p), lo, hi, NULL, NULL             \
	}
/* Seconds, fractions allowed, or with a suffix ms, s, m, h; stored in milliseconds. */
#define OPT_TIME(l, n, p, a, h)                                                                    \
	{                                                                                          \
		l, n, a, h, OPTION_TIME, OPT_VALUE(uint64_t, p), 1, UINT64_C(1) << 40, NULL, NULL  \
	}
/* What people see in colours: --color WHEN goes to color_choose(). */
#define OPT_COLOR                                                                                  \
	{                                                                                          \
		0, "color", "WHEN", "colours: auto (on a terminal; default), always, never",       \
			OPTION_COLOR, NULL, 0, 0, color_when, NULL                                 \
	}
#define OPT_END OPT_OPERANDS(NULL)
/* The same; c completes the operands. */
#define OPT_OPERANDS(c)                                                                            \
	{                                                                                          \
		0, NULL, NULL, NULL, OPTION_FLAG, NULL, 0, 0, NULL, c                              \
	}

/* A command's face: what --help prints above its options. */
struct option_usage {
	const char *synopsis; /* "hvtrace run [OPTION]..." */
	const char *about;    /* a few lines */
	const char *examples; /* each a line, "hvtrace run ..."; NULL: there are none */
};

enum { OPTIONS_HELP = -2, OPTIONS_BAD = -1 };

/*
 * Parse argv[1..]; --help and -h are known to every table, and --help=FORM with the name of an
 * option_form. Returns the index of the first operand, OPTIONS_HELP when help was printed (on
 * stdout), OPTIONS_BAD when one line about the mistake was (on stderr).
 */
int options_parse(int argc, char **argv, const struct option_row *rows,
		  const struct option_usage *usage);
/*
 * The other way: each option that has a value by now as one word that options_parse() takes, in the
 * order of the table, but for colours. What two rows have the same variable for is one option. 0,
 * or -ENOMEM: some are missing.
 */
int options_words(const struct option_row *rows, void (*word)(void *arg, const char *word),
		  void *arg);
/*
 * Whether the value of an option is one of the names that name(i) gives, i from 0 on, up to NULL.
 * If not, one line about it was printed on stderr.
 */
bool option_is_one_of(const char *option, const char *value, const char *(*name)(unsigned int i));
void options_print(FILE *out, const struct option_row *rows, const struct option_usage *usage);
void option_list_free(struct option_list *list);

#endif
