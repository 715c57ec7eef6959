// SPDX-License-Identifier: GPL-2.0-or-later
/* expr-words.c - the words of print fmts, and the memory of the trees made of them. */
#include "tracer/output/fmt/internal.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 1024 };

/* --- memory --------------------------------------------------------------------------------- */

struct expr_chunk {
	struct expr_chunk *next;
	size_t size;
	_Alignas(16) char bytes[];
};

static bool has_room(const struct expr_memory *mem, size_t bytes)
{
	return bytes <= EXPR_MEMORY_MAX - mem->taken &&
	       (!mem->shared || bytes <= EXPR_MEMORY_SHARED - *mem->shared);
}

static struct expr_chunk *add_chunk(struct expr_memory *mem, size_t size)
{
	size_t bytes = sizeof(struct expr_chunk) + size;
	struct expr_chunk *chunk = has_room(mem, bytes) ? calloc(1, bytes) : NULL;

	if (!chunk) {
		mem->error = has_room(mem, bytes) ? -ENOMEM : -ENOSPC;
		return NULL;
	}
	chunk->size = size;
	chunk->next = mem->chunks;
	mem->chunks = chunk;
	mem->used = 0;
	mem->taken += bytes;
	if (mem->shared)
		*mem->shared += bytes;
	return chunk;
}

void *expr_alloc(struct expr_memory *mem, size_t len)
{
	struct expr_chunk *chunk = mem->chunks;
	void *at;

	len = (len + 15) & ~(size_t)15;
	if (!chunk || chunk->size - mem->used < len) {
		chunk = add_chunk(mem, len > CHUNK ? len : CHUNK);
		if (!chunk)
			return NULL;
	}
	at = chunk->bytes + mem->used;
	mem->used += len;
	return at;
}

void expr_free(struct expr_memory *mem)
{
	for (struct expr_chunk *chunk = mem->chunks, *next; chunk; chunk = next) {
		next = chunk->next;
		free(chunk);
	}
	if (mem->shared)
		*mem->shared -= mem->taken;
	*mem = (struct expr_memory){.shared = mem->shared};
}

struct expr *expr_new(struct expr_parser *p, enum expr_kind kind, struct expr *a)
{
	struct expr *e = expr_alloc(p->mem, sizeof(*e));

	if (!e)
		return NULL;
	e->kind = (uint8_t)kind;
	e->a = a;
	e->depth = a ? a->depth + 1 : 0;
	return e->depth < DEPTH_MAX ? e : NULL;
}

bool expr_set(struct expr *e, struct expr **operand, struct expr *value)
{
	*operand = value;
	if (value && value->depth >= e->depth)
		e->depth = value->depth + 1;
	return value && e->depth < DEPTH_MAX;
}

/* --- words ---------------------------------------------------------------------------------- */

void expr_skip_blanks(struct expr_parser *p)
{
	while (isspace((unsigned char)*p->at))
		p->at++;
}

bool expr_skip(struct expr_parser *p, char c)
{
	expr_skip_blanks(p);
	if (*p->at != c)
		return false;
	p->at++;
	return true;
}

bool expr_skip_word(struct expr_parser *p, const char *word)
{
	size_t len = strlen(word);

	expr_skip_blanks(p);
	if (strncmp(p->at, word, len) != 0)
		return false;
	p->at += len;
	return true;
}

bool expr_is_name_char(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

bool expr_take_name(struct expr_parser *p, char name[NAME_MAX_LEN])
{
	size_t len = 0;

	expr_skip_blanks(p);
	if (isdigit((unsigned char)*p->at))
		return false;
	while (expr_is_name_char(p->at[len]))
		len++;
	if (!len || len >= NAME_MAX_LEN)
		return false;
	memcpy(name, p->at, len);
	name[len] = '\0';
	p->at += len;
	return true;
}

/* Behind a backslash. */
char expr_take_escape(struct expr_parser *p)
{
	static const char from[] = "abfnrtv", to[] = "\a\b\f\n\r\t\v";
	const char *known = *p->at ? strchr(from, *p->at) : NULL;
	char digits[4] = {0}, *end;
	int base = 8;

	if (known) {
		p->at++;
		return to[known - from];
	}
	if (*p->at == 'x') {
		base = 16;
		p->at++;
	}
	memcpy(digits, p->at, strnlen(p->at, base == 16 ? 2 : 3));
	base = (int)strtoul(digits, &end, base);
	if (end > digits && isxdigit((unsigned char)digits[0])) {
		p->at += end - digits;
		return (char)base;
	}
	return *p->at ? *p->at++ : '\0';
}

/* How long strings that stand here are at most. */
static size_t string_room(const char *at)
{
	size_t len = 1;

	while (*at == '"') {
		for (at++; *at && *at != '"'; at++, len++) {
			if (*at == '\\' && at[1])
				at++;
		}
		if (*at)
			at++;
		while (isspace((unsigned char)*at))
			at++;
	}
	return len;
}

const char *expr_parse_string(struct expr_parser *p)
{
	char *buf, *to;

	expr_skip_blanks(p);
	if (*p->at != '"')
		return NULL;
	to = buf = expr_alloc(p->mem, string_room(p->at));
	while (buf && expr_skip(p, '"')) {
		while (*p->at && *p->at != '"') {
			if (*p->at == '\\' && p->at[1]) {
				p->at++;
				*to++ = expr_take_escape(p);
			} else {
				*to++ = *p->at++;
			}
		}
		if (!*p->at)
			return NULL;
		p->at++;
	}
	return buf;
}
