/* SPDX-License-Identifier: GPL-2.0-or-later */
/* schema.h - the keys that a configuration may have: a row each. */
#ifndef HVTRACE_FRONTEND_CONFIG_SCHEMA_H
#define HVTRACE_FRONTEND_CONFIG_SCHEMA_H

#include <stddef.h>
#include <stdint.h>

#include "frontend/config/config.h"

/* How a value is written, and what it is kept in (kinds.c). */
enum kind {
	KIND_BOOLEAN, /* bool */
	KIND_NUMBER,  /* uint64_t */
	KIND_PERCENT, /* double */
	KIND_SIZE,    /* uint64_t, bytes */
	KIND_TIME,    /* uint64_t, ns */
	KIND_WORD,    /* unsigned int: which one of the row's names */
	KIND_TEXT,    /* const char *, as all up to KIND_CLOCK */
	KIND_NAME,
	KIND_GLOB,
	KIND_PATH,
	KIND_LISTEN,
	KIND_TRACER,
	KIND_CLOCK,
	KIND_TEXTS, /* struct option_list, as all up to KIND_URLS */
	KIND_GLOBS,
	KIND_SETTINGS,
	KIND_URLS,
	KIND_COUNTERS, /* unsigned int: bits, by the row's names */
	KIND_LABELS,   /* struct config_labels */
	KIND_TABLE,    /* what the row's table has */
};

/* Of rules: which `when` a key is for. 0: any. */
#define WHEN(w) (1u << CONFIG_##w)

struct config_row {
	const char *key;
	enum kind kind;
	size_t offset;	   /* in what the table is kept in */
	uint64_t min, max; /* of numbers, sizes, times, percent; less than min: nothing is said */
	const char *(*names)(unsigned int i);
	const struct config_table *table;
	unsigned int when;
	const char *help;
};

struct config_table {
	const char *name;	       /* "serve" */
	const char *title;	       /* "[serve]" */
	const struct config_row *rows; /* the last has no key */
};

/* serve, metrics, ship; the last has no name. */
extern const struct config_table schema_tables[];
/* Of the members of struct config_rule. */
extern const struct config_table schema_rule;
extern const struct config_table schema_threshold;

/* What is in force where nothing is said. */
extern const struct serve_config schema_defaults;
extern const struct config_rule schema_rule_defaults;

/* NULL: the table has no such key. */
const struct config_row *schema_find(const struct config_table *table, const char *key);

#endif
