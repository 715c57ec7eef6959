// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * events-eval.c - constants that formats have by name, which nobody but the kernel knows: it
 * replaces them at boot by what its __start_ftrace_eval_maps says.
 */
#include "guestsym/events.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define EVALS_MAX (1 << 16)

/* struct trace_eval_map */
struct event_eval {
	uint64_t system;
	const char *name;
	int64_t value;
};

struct eval_layout {
	struct guestsym_field system, name, value;
	uint32_t size;
};

/* --- the table --------------------------------------------------------------------------- */

static int learn_layout(struct eval_layout *at, const struct types *t)
{
	const struct {
		const char *path;
		struct guestsym_field *f;
	} fields[] = {
		{"trace_eval_map.system", &at->system},
		{"trace_eval_map.eval_string", &at->name},
		{"trace_eval_map.eval_value", &at->value},
	};
	int err = types_size(t, "trace_eval_map", &at->size);

	if (!err && at->size > EVENT_STRUCT_MAX)
		err = -EINVAL;
	for (size_t i = 0; i < ARRAY_SIZE(fields) && !err; i++) {
		err = types_field(t, fields[i].path, fields[i].f);
		if (!err && !field_fits(fields[i].f, 8, at->size))
			err = -EINVAL;
	}
	return err == -ENOENT ? -ENODATA : err;
}

static int read_eval(struct event_eval *eval, struct event_reader *r, const struct eval_layout *at,
		     uint64_t va)
{
	uint8_t raw[EVENT_STRUCT_MAX];
	int err = pages_read(&r->pages, va, raw, at->size);

	if (err)
		return err;
	eval->system = event_member(raw, &at->system);
	eval->value = event_member(raw, &at->value);
	return event_read_string(r, event_member(raw, &at->name), WORD_MAX, &eval->name);
}

int event_evals_read(struct event_evals *evals, struct event_reader *r)
{
	const struct events_of *k = r->kernel;
	const uint8_t *p = NULL;
	struct eval_layout at;
	uint64_t va;
	size_t n = table_entries(k->elf, k->symbols, "__start_ftrace_eval_maps",
				 "__stop_ftrace_eval_maps", 8, &va, &p);
	int err = n ? learn_layout(&at, k->types) : 0;

	*evals = (struct event_evals){0};
	if (n > EVALS_MAX)
		return -EINVAL;
	evals->v = calloc(n ? n : 1, sizeof(*evals->v));
	if (!evals->v)
		return -ENOMEM;
	for (size_t i = 0; i < n && !err; i++) {
		err = read_eval(&evals->v[evals->n], r, &at, get_u64(p + 8 * i));
		evals->n += !err;
		if (err && event_error_is_its_own(err))
			err = 0;
	}
	return err;
}

void event_evals_exit(struct event_evals *evals)
{
	free(evals->v);
	*evals = (struct event_evals){0};
}

/* --- replacing --------------------------------------------------------------------------- */

/* A text and what becomes of it, which is no longer. */
struct edit {
	const char *from;
	char *to;
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_alnum(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static void copy(struct edit *e, size_t n)
{
	while (n-- && *e->from)
		*e->to++ = *e->from++;
}

static size_t word_length(const char *s)
{
	size_t n = 0;

	while (is_alnum(s[n]) || s[n] == '_')
		n++;
	return n;
}

/* True when the text begins with the name, which may be "sizeof(type)". */
static bool begins_with(const char *text, const char *name)
{
	size_t len = strlen(name);

	return len && !strncmp(text, name, len) && !word_length(text + len);
}

/* Names of systems are compared by address: so does the kernel. */
static const struct event_eval *find_eval(const struct event_evals *evals, uint64_t system,
					  const char *text)
{
	for (size_t i = 0; i < evals->n; i++)
		if (evals->v[i].system == system && begins_with(text, evals->v[i].name))
			return &evals->v[i];
	return NULL;
}

static bool replace(struct edit *e, const struct event_eval *eval)
{
	size_t len = strlen(eval->name);
	char value[24];
	size_t n = snprintf(value, sizeof(value), "%" PRId64, eval->value);

	if (n > len)
		return false;
	memcpy(e->to, value, n);
	e->to += n;
	e->from += len;
	return true;
}

/* What comes behind a "." or "->" is a member, whatever it is called. */
static void copy_with_members(struct edit *e, size_t len)
{
	copy(e, len);
	while (*e->from == '.' || (e->from[0] == '-' && e->from[1] == '>')) {
		copy(e, *e->from == '.' ? 1 : 2);
		copy(e, 1);
		copy(e, word_length(e->from));
	}
}

static void edit_number(struct edit *e)
{
	while (is_alnum(*e->from))
		copy(e, 1);
}

static void edit_word(struct edit *e, const struct event_evals *evals, uint64_t system)
{
	const struct event_eval *eval = find_eval(evals, system, e->from);

	if (!eval || !replace(e, eval))
		copy_with_members(e, word_length(e->from));
}

/*
 * As update_event_printk() of kernel/trace/trace_events.c, also in this: whatever comes behind a
 * number or a word separates it from the next and is nothing else, not even a quote.
 */
int event_evals_replace(const struct event_evals *evals, struct event_reader *r, uint64_t system_va,
			const char **text)
{
	char *edited = event_alloc(r, strlen(*text) + 1);
	struct edit e = {*text, edited};
	bool quoted = false;

	if (!edited)
		return -ENOMEM;
	while (*e.from) {
		if (*e.from == '\\') {
			copy(&e, 2);
		} else if (*e.from == '"' || quoted) {
			quoted ^= *e.from == '"';
			copy(&e, 1);
		} else if (is_digit(*e.from)) {
			edit_number(&e);
			copy(&e, 1);
		} else if (word_length(e.from)) {
			edit_word(&e, evals, system_va);
			copy(&e, 1);
		} else {
			copy(&e, 1);
		}
	}
	*e.to = 0;
	*text = edited;
	return 0;
}
