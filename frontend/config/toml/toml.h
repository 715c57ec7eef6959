/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * toml.h - the values of a text in TOML 1.0, each with the line that it stands in.
 *
 * The text may be anybody's: how long it may be, how deep its values may lie in each other, and how
 * many mistakes of it are told is bounded, and with that the time and the memory that it takes.
 */
#ifndef HVTRACE_FRONTEND_CONFIG_TOML_TOML_H
#define HVTRACE_FRONTEND_CONFIG_TOML_TOML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	TOML_SIZE = 1 << 20,	   /* bytes of a text */
	TOML_STATEMENT = 16 << 10, /* of what stands behind one key */
	TOML_DEPTH = 16,	   /* of values in each other, and parts of a key */
	TOML_KEYS = 1024,	   /* of one table */
	TOML_MISTAKES =
		20, /* that are told: after so many of the text itself no more are looked for */
};

enum toml_kind {
	TOML_STRING,
	TOML_INTEGER,
	TOML_FLOAT,
	TOML_BOOLEAN,
	TOML_DATE, /* or a time of the day */
	TOML_ARRAY,
	TOML_TABLE,
};

/* Where a table comes from: what may be added to it depends on that. */
enum toml_origin {
	TOML_IMPLIED, /* by the header of a table in it */
	TOML_HEADED,  /* by a header of its own */
	TOML_DOTTED,  /* by a key with dots */
	TOML_INLINE,  /* it stands in braces */
};

struct toml_value {
	enum toml_kind kind;
	unsigned int line;	 /* from 1 on */
	struct toml_value *next; /* in the same array */
	union {
		const char *string; /* has no zeros in it; a date as it is written */
		int64_t integer;
		double number;
		bool boolean;
		struct {
			struct toml_value *first, *last;
			bool headed; /* its tables have [[headers]] */
		} array;
		struct {
			struct toml_entry *first, *last;
			unsigned int nr;
			enum toml_origin origin;
		} table;
	};
};

struct toml_entry {
	struct toml_entry *next;
	const char *key;
	unsigned int line; /* of the key */
	struct toml_value *value;
};

/* Who is told of mistakes: in a line of the text, one line of people's words. */
struct toml_ear {
	void (*tell)(void *arg, unsigned int line, const char *what);
	void *arg;
};

struct toml;

/* NULL, or one line that says why this build reads no TOML. */
const char *toml_missing(void);
/*
 * Read a text. NULL: there is a mistake at least, and each has been told; also that there is no
 * memory. toml_free() it.
 */
struct toml *toml_read(const char *text, size_t len, const struct toml_ear *ear);
void toml_free(struct toml *t); /* NULL is allowed */
/* The table that all of it is in. What it leads to is there as long as t. */
const struct toml_value *toml_root(const struct toml *t);
/* NULL: the table has no such key. */
const struct toml_entry *toml_find(const struct toml_value *table, const char *key);
/* What people call a value of the kind: "a string". */
const char *toml_kind_name(enum toml_kind kind);
/* Zeroed memory that is there as long as t. NULL: there is none. */
void *toml_keep(struct toml *t, size_t size);

#endif
