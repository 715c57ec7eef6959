/* SPDX-License-Identifier: GPL-2.0-or-later */
/* internal.h - between the parsers of event filters and of records, and filters' evaluation. */
#ifndef HVTRACE_TRACER_EVENTS_FILTER_INTERNAL_H
#define HVTRACE_TRACER_EVENTS_FILTER_INTERNAL_H

#include <stdlib.h>
#include <string.h>

#include "tracer/events/filter/filter.h"
#include "tracer/lib/glob.h"

#define EVENT_CPUS_MAX 8192 /* NR_CPUS of the largest kernels */

/* Those with one more character come before those without it. */
enum filter_op {
	FILTER_OP_GLOB,
	FILTER_OP_NE,
	FILTER_OP_EQ,
	FILTER_OP_LE,
	FILTER_OP_LT,
	FILTER_OP_GE,
	FILTER_OP_GT,
	FILTER_OP_BAND,
	FILTER_OPS,
};

struct cpu_set {
	uint64_t bits[EVENT_CPUS_MAX / 64];
};

enum filter_term_kind {
	FILTER_TERM_NUMBER,
	FILTER_TERM_STRING,
	FILTER_TERM_FUNCTION, /* in the range of a function or not */
	FILTER_TERM_CPUS,
};

/* FIELD OP VALUE; its fields' names and types are not looked at any more. */
struct filter_term {
	enum filter_term_kind kind;
	enum filter_op op;
	enum event_field_source source;
	struct guestsym_event_field in;
	bool user; /* .ustring */
	uint64_t number;
	struct guestsym_range range;
	char *pattern; /* what glob points into, of op ~ */
	struct glob glob;
	struct cpu_set *cpus;
};

/* Where to go on behind a term, past the end of the program. */
#define FILTER_TRUE  UINT32_MAX
#define FILTER_FALSE (UINT32_MAX - 1)

/* One term, and where to go on when it is true or false: always forward. */
struct filter_step {
	struct filter_term term;
	uint32_t next[2]; /* false, true */
};

struct event_filter {
	char *text; /* what the file reads; NULL: nobody asks */
	struct filter_step *steps;
	size_t nr, size;
	uint32_t start;
};

/* The kernel's isspace() and isalnum(), which are of Latin-1. */
static inline bool filter_isspace(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r') || c == '\xa0';
}

static inline bool filter_isdigit(char c)
{
	return c >= '0' && c <= '9';
}

static inline bool filter_isalnum(char c)
{
	unsigned char u = (unsigned char)c, lower = u | 0x20;

	return filter_isdigit(c) || (lower >= 'a' && lower <= 'z') ||
	       (u >= 0xc0 && u != 0xd7 && u != 0xf7);
}

/* --- term.c ---------------------------------------------------------------- */

struct filter_source {
	const struct event_format *format;
	const struct event_kernel *kernel;
	const char *text;
	struct event_filter_error *err;
};

/* pos counts from 1 where the kernel's does. Returns error. */
int filter_error(const struct filter_source *src, const char *what, size_t pos, int error);
/*
 * The term at offset `at` of the text. How long it is, or -errno. The term is to be freed by
 * filter_term_free() in any case.
 */
ssize_t filter_term_parse(const struct filter_source *src, size_t at, struct filter_term *term);
void filter_term_free(struct filter_term *term);
/* As kstrtoll() of base 0: 0, -EINVAL or -ERANGE. */
int filter_signed_number(const char *text, uint64_t *value);

/* --- cpus.c ------------------------------------------------------------------- */

/* A list of CPUs, as 0-3,8: 0 or -EINVAL, -ERANGE. nr is how many there are. */
int cpu_set_parse(struct cpu_set *set, const char *list, unsigned int nr);
/* Whether the op holds between a field's bits, of len bytes, and the set. */
bool cpu_set_compare(const struct cpu_set *set, enum filter_op op, const void *bits, size_t len);
/* The same for a field that holds the number of a CPU. */
bool cpu_set_compare_one(const struct cpu_set *set, enum filter_op op, uint64_t cpu);

#endif
