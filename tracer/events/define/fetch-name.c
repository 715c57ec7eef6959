// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fetch-name.c - arguments of a function by their names, and members of what they point to:
 * parse_btf_arg() and what it calls (kernel/trace/trace_probe.c, 6.12).
 */
#include "tracer/events/define/fetch-parse.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define NO_TYPE "Failed to get BTF type info."

bool fetch_begins_name(const char *text)
{
	return isalpha((unsigned char)*text) || *text == '_';
}

static int not_found(struct fetch_parser *p, size_t offs, const char *what)
{
	return probe_error_set(p->err, -ENOENT, p->word, offs, what);
}

/* Ends the name in text; *next is what is behind its "->" (1) or "." (0), or NULL. Or -EINVAL. */
static int split(struct fetch_parser *p, char *text, char **next, size_t offs)
{
	char *sign = strpbrk(text, ".-");
	bool arrow = sign && !strncmp(sign, "->", 2);

	*next = NULL;
	if (!sign)
		return 0;
	if (*sign == '-' && !arrow)
		return fetch_fail(p, offs + (size_t)(sign - text),
				  "Failed to parse single hyphen. Forgot '>'?");
	*sign = '\0';
	*next = sign + 1 + arrow;
	return arrow;
}

/* --- members ---------------------------------------------------------------------------------- */

struct path {
	char *text; /* what is left of it */
	size_t offs;
	uint32_t type; /* of the struct that it is in */
	uint64_t bit_off;
};

/* The next name of it. 1: a pointer to another struct, 0: there is more, or an end. Or -errno. */
static int member_step(struct fetch_parser *p, struct path *path)
{
	const struct fetch_function *f = p->function;
	struct guestsym_member m;
	char *next;
	int arrow = split(p, path->text, &next, path->offs), ret;

	if (arrow < 0)
		return arrow;
	ret = f->member(f->arg, path->type, path->text, &m);
	if (ret == -ENOENT)
		return not_found(p, path->offs, "This field is not found.");
	if (ret)
		return fetch_fail(p, path->offs, NO_TYPE);
	path->bit_off += m.bit_off;
	path->type = m.value.type;
	p->bits = m.bits;
	p->value = m.value;
	if (next)
		path->offs += (size_t)(next - path->text);
	path->text = next;
	return arrow;
}

static int members_parse(struct fetch_parser *p, char *text, size_t offs)
{
	const struct fetch_function *f = p->function;
	struct path path = {.text = text, .offs = offs};
	int ret;

	while (path.text) {
		if (p->value.kind != GUESTSYM_VALUE_POINTER)
			return fetch_fail(p, path.offs,
					  "This is not a pointer to union/structure.");
		if (f->pointee(f->arg, p->value.type, &path.type))
			return fetch_fail(p, path.offs, NO_TYPE);
		path.bit_off = 0;
		do
			ret = member_step(p, &path);
		while (!ret && path.text);
		if (ret < 0)
			return ret;
		ret = fetch_add_deref(p, (int64_t)(path.bit_off / 8), false, path.offs);
		if (ret)
			return ret;
		p->first_bit = path.bit_off % 8;
	}
	return 0;
}

/* --- names ------------------------------------------------------------------------------------ */

static int value_set(struct fetch_parser *p, const struct guestsym_value *v, char *members,
		     size_t offs)
{
	p->value = *v;
	p->typed = true;
	return members ? members_parse(p, members, offs) : 0;
}

static int retval_parse(struct fetch_parser *p, char *members, size_t offs, size_t members_offs)
{
	const struct fetch_function *f = p->function;

	fetch_source_set(p, FETCH_RETVAL, 0);
	if (!f)
		return members ? not_found(p, members_offs, "No BTF entry for this probe point")
			       : 0;
	if (f->result.kind == GUESTSYM_VALUE_NONE)
		return not_found(p, offs, "This function returns 'void' type");
	return value_set(p, &f->result, members, members_offs);
}

static int param_parse(struct fetch_parser *p, const char *name, char *members, size_t offs,
		       size_t members_offs)
{
	const struct fetch_function *f = p->function;

	if (!f || !f->nr)
		return not_found(p, offs, "No BTF entry for this probe point");
	for (unsigned int i = 0; i < f->nr; i++) {
		if (strcmp(f->param[i].name, name) != 0)
			continue;
		fetch_source_set(p, FETCH_ARG, i + (p->flags & FETCH_AT_TRACEPOINT ? 1 : 0));
		return value_set(p, &f->param[i], members, members_offs);
	}
	return not_found(p, offs, "This variable is not found at this probe point");
}

int fetch_name_parse(struct fetch_parser *p, char *text, size_t offs)
{
	char *members;
	int arrow = split(p, text, &members, offs);
	size_t at = offs + (members ? (size_t)(members - text) : 0);

	if (arrow < 0)
		return arrow;
	if (members && !arrow)
		return probe_error_set(p->err, -EOPNOTSUPP, p->word, at,
				       "Non pointer structure/union argument is not supported.");
	if (!strcmp(text, "$retval"))
		return retval_parse(p, members, offs, at);
	return param_parse(p, text, members, offs, at);
}

/* --- types ------------------------------------------------------------------------------------ */

/* The sizes are a guest's. */
static bool is_number_size(uint32_t size)
{
	return size == 1 || size == 2 || size == 4 || size == 8;
}

const char *fetch_type_of(const struct fetch_parser *p, char buf[8])
{
	const struct guestsym_value *v = &p->value;
	bool is_signed = v->kind == GUESTSYM_VALUE_SIGNED || v->is_enum;

	if (!p->typed || (!is_signed && v->kind != GUESTSYM_VALUE_UNSIGNED) ||
	    !is_number_size(v->size))
		return "x64";
	snprintf(buf, 8, "%c%u", is_signed ? 's' : 'u', v->size * 8);
	return buf;
}

int fetch_string_prepare(struct fetch_parser *p, const char *type, size_t offs)
{
	if (!p->typed || (p->value.is_array && p->value.of_chars))
		return 0;
	if (!p->value.of_chars)
		return fetch_fail(p, offs, "This type does not fit for string.");
	return fetch_add_deref(p, 0, *type == 'u', offs);
}
