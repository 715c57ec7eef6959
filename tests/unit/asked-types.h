/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * asked-types.h - asks a table of types for everything that it may know, and sees to it that
 * answers are within it, and that none takes more steps than it may: comparisons of names, looks at
 * types. Whoever includes it is linked with $(count-steps) of tests/build.mk.
 */
#ifndef HVTRACE_TESTS_ASKED_TYPES_H
#define HVTRACE_TESTS_ASKED_TYPES_H

#include <bpf/btf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "guestsym/types-flat.h"

/* For one question: the members that it looks at, and halving before that. */
#define ASK_STEPS 100100
/* For one input; what loops takes as long each time. */
#define ASK_NAMES   200
#define ASK_MEMBERS 40
#define ASK_FIELDS  60

static size_t steps;

int __wrap_strcmp(const char *a, const char *b);
int __real_strcmp(const char *a, const char *b);
const struct btf_type *__wrap_btf__type_by_id(const struct btf *btf, uint32_t id);
const struct btf_type *__real_btf__type_by_id(const struct btf *btf, uint32_t id);

int __wrap_strcmp(const char *a, const char *b)
{
	steps++;
	return __real_strcmp(a, b);
}

const struct btf_type *__wrap_btf__type_by_id(const struct btf *btf, uint32_t id)
{
	steps++;
	return __real_btf__type_by_id(btf, id);
}

static inline void ask_that(bool holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "types: %s\n", what);
	abort();
}

struct asked {
	const struct types *t;
	const char *from, *to; /* the table */
	unsigned int fields;
};

static inline void ask_string(const struct asked *a, const char *s)
{
	ask_that(s >= a->from && s < a->to && strnlen(s, a->to - s) <= SYMBOL_NAME_MAX,
		 "a name that is none");
}

static inline void ask_steps(void)
{
	ask_that(steps <= ASK_STEPS, "an answer takes too many steps");
	steps = 0;
}

static inline void ask_field(struct asked *a, const char *name, const char *member)
{
	char path[2 * SYMBOL_NAME_MAX + 2];
	struct guestsym_field f;

	if (a->fields++ >= ASK_FIELDS)
		return;
	snprintf(path, sizeof(path), "%s.%s", name, member);
	types_field(a->t, path, &f);
	ask_steps();
}

static inline void ask_members(struct asked *a, const char *name)
{
	struct types_member m;
	int err = 0;

	for (uint32_t i = 0; i < ASK_MEMBERS && err != -ENOENT; i++) {
		err = types_member(a->t, name, i, &m);
		ask_steps();
		if (err)
			continue;
		ask_string(a, m.name);
		ask_string(a, m.type);
		ask_field(a, name, m.name);
	}
}

/* Of what a parameter is, and of what it points to. */
static inline void ask_members_of(struct asked *a, uint32_t type, const char *name)
{
	struct guestsym_member m;
	uint32_t pointee;

	types_member_of(a->t, type, name, &m);
	ask_steps();
	if (!types_pointee(a->t, type, &pointee))
		types_member_of(a->t, pointee, name, &m);
	ask_steps();
}

static inline void ask_name(struct asked *a, const char *name)
{
	struct guestsym_value param[8], result;
	int64_t value;
	const struct types_enumerator wanted = {name, &value};
	uint32_t size;
	int n;

	types_size(a->t, name, &size);
	ask_steps();
	types_enumerators(a->t, &wanted, 1);
	ask_steps();
	n = types_function(a->t, name, param, 8, &result);
	ask_steps();
	ask_that(n <= 8, "more parameters than there is room for");
	for (int i = 0; i < n; i++) {
		ask_string(a, param[i].name);
		ask_that(param[i].kind <= GUESTSYM_VALUE_OTHER, "a value of no kind");
		ask_members_of(a, param[i].type, name);
	}
	ask_members(a, name);
	ask_field(a, name, "no.such");
}

/* Each string of a table that was loaded may be somebody's name. */
static inline void ask_all(const struct types *t, const void *flat, size_t len)
{
	struct asked a = {.t = t, .from = flat, .to = (const char *)flat + len};
	struct flat_header h;
	const char *s;

	memcpy(&h, flat, sizeof(h));
	s = (const char *)flat + flat_layout(&h).strings;
	steps = 0;
	types_count(t);
	for (int i = 0; i < ASK_NAMES && s < a.to; i++, s += strlen(s) + 1)
		ask_name(&a, s);
}

/*
 * Flatten it: what was said of it. What it costs is in proportion to it, and what comes out can be
 * loaded; then everything is asked for.
 */
static inline int ask_flattened(const uint8_t *raw, size_t len)
{
	struct types *t;
	struct blob flat;
	int err;

	steps = 0;
	err = types_flatten(raw, len, &flat);
	/* Some 8 looks at a type of 12 bytes, and log2 of all comparisons for a name of 8. */
	ask_that(steps <= 4 * len + 64, "flattening takes too many steps");
	if (err) {
		ask_that(!flat.map && (err == -EINVAL || err == -E2BIG), "no table, not even half");
		return err;
	}
	ask_that(flat.len <= 3 * len + 128, "the table is too large");
	ask_that(!types_load(flat.data, flat.len, &t), "a table that cannot be loaded");
	ask_all(t, flat.data, flat.len);
	types_free(t);
	blob_free(&flat);
	return 0;
}

#endif
