// SPDX-License-Identifier: GPL-2.0-or-later
/* grub-expand.c - variables of a script, and what becomes of its words; see grub.h. */
#include "frontend/image/boot/grub.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#define WORDS_MAX 512 /* of a command */

/* --- variables -------------------------------------------------------------------------------- */

static bool is_named(const char *is, const char *name, size_t len)
{
	return strlen(is) == len && !memcmp(is, name, len);
}

static struct grub_variable *find(struct grub *g, const char *name, size_t len)
{
	for (struct grub_variable *v = g->variables; v && grub_works(g, 1); v = v->next)
		if (is_named(v->name, name, len))
			return v;
	return NULL;
}

const char *grub_get(struct grub *g, const char *name, size_t len)
{
	const struct grub_variable *v = find(g, name, len);

	return v ? v->value : "";
}

int grub_set(struct grub *g, const char *name, size_t len, const char *value)
{
	struct grub_variable *v = find(g, name, len);

	if (v && !strcmp(v->value, value))
		return 0;
	if (!v) {
		v = grub_alloc(&g->memory, sizeof(*v));
		if (!v)
			return grub_too_much(g);
		v->name = grub_string(&g->memory, name, len);
		v->value = "";
		v->next = g->variables;
		if (!v->name)
			return grub_too_much(g);
		g->variables = v;
	}
	value = grub_string(&g->memory, value, strlen(value));
	if (!value)
		return grub_too_much(g);
	v->value = value;
	return 0;
}

/* --- words ------------------------------------------------------------------------------------ */

struct words {
	struct grub *g;
	const char *word[WORDS_MAX];
	unsigned int nr;
	char text[GRUB_TEXT_MAX]; /* of the one that is made */
	size_t len;
	bool has; /* there is one, if only an empty one in quotes */
	bool too_long;
};

static void put(struct words *w, char c)
{
	w->has = true;
	if (w->len == sizeof(w->text) || !grub_works(w->g, 1))
		w->too_long = true;
	else
		w->text[w->len++] = c;
}

static void end_word(struct words *w)
{
	char *word;

	if (!w->has)
		return;
	word = w->nr < WORDS_MAX ? grub_string(&w->g->memory, w->text, w->len) : NULL;
	if (word)
		w->word[w->nr++] = word;
	else
		w->too_long = true;
	w->len = 0;
	w->has = false;
}

/* In quotes it stays together; else it is so many words. */
static void put_value(struct words *w, const char *value, bool quoted)
{
	for (; *value; value++) {
		if (!quoted && isspace((unsigned char)*value))
			end_word(w);
		else
			put(w, *value);
	}
}

static void put_all_args(struct words *w, bool quoted)
{
	for (unsigned int i = 0; i < w->g->args.nr; i++) {
		if (i)
			put_value(w, " ", quoted);
		put_value(w, w->g->args.arg[i], quoted);
	}
}

static void put_variable(struct words *w, const char *name, size_t len, bool quoted)
{
	unsigned int n = len && isdigit((unsigned char)*name) ? (unsigned int)(*name - '0') : 0;

	if (len == 1 && (*name == '@' || *name == '*'))
		put_all_args(w, quoted);
	else if (len == 1 && *name == '?')
		put(w, w->g->failed ? '1' : '0');
	else if (n && n <= w->g->args.nr)
		put_value(w, w->g->args.arg[n - 1], quoted);
	else
		put_value(w, grub_get(w->g, name, len), quoted);
}

/* What stands behind a $, up to end. Where it ends; at itself: it is no variable. */
static const char *find_name(const char *at, const char *end, const char **name, size_t *len)
{
	const char *close;

	*name = at;
	if (at < end && *at == '{') {
		close = memchr(at, '}', (size_t)(end - at));
		*name = at + 1;
		*len = close ? (size_t)(close - at - 1) : 0;
		return close ? close + 1 : at;
	}
	if (at < end && (isdigit((unsigned char)*at) || strchr("@*?", *at))) {
		*len = 1;
		return at + 1;
	}
	while (at < end && (isalnum((unsigned char)*at) || *at == '_'))
		at++;
	*len = (size_t)(at - *name);
	return at;
}

static const char *put_dollar(struct words *w, const char *at, const char *end, bool quoted)
{
	const char *name, *behind;
	size_t len;

	behind = find_name(at, end, &name, &len);
	if (behind == at)
		put(w, '$');
	else
		put_variable(w, name, len, quoted);
	return behind;
}

/* Behind the quote. */
static const char *put_double(struct words *w, const char *at, const char *end)
{
	w->has = true;
	while (at < end && *at != '"') {
		char c = *at++;

		if (c == '$') {
			at = put_dollar(w, at, end, true);
			continue;
		}
		if (c == '\\' && at < end && *at == '\n') {
			at++;
			continue;
		}
		if (c == '\\' && at < end && strchr("$\"\\", *at))
			c = *at++;
		put(w, c);
	}
	return at < end ? at + 1 : at;
}

static const char *put_single(struct words *w, const char *at, const char *end)
{
	w->has = true;
	while (at < end && *at != '\'')
		put(w, *at++);
	return at < end ? at + 1 : at;
}

static void put_word(struct words *w, const struct grub_word *word)
{
	const char *at = word->text, *end = at + word->len;

	while (at < end && !w->too_long) {
		char c = *at++;

		if (c == '\'')
			at = put_single(w, at, end);
		else if (c == '"')
			at = put_double(w, at, end);
		else if (c == '$')
			at = put_dollar(w, at, end, false);
		else if (c == '\\' && at < end && *at == '\n')
			at++;
		else
			put(w, c == '\\' && at < end ? *at++ : c);
	}
	end_word(w);
}

int grub_expand(struct grub *g, const struct grub_word *words, const char ***argv,
		unsigned int *argc)
{
	struct words w;

	w.g = g;
	w.nr = 0;
	w.len = 0;
	w.has = w.too_long = false;
	for (; words; words = words->next)
		put_word(&w, words);
	*argv = grub_alloc(&g->memory, (w.nr + 1) * sizeof(**argv));
	if (!*argv || w.too_long)
		return grub_too_much(g);
	memcpy(*argv, w.word, w.nr * sizeof(**argv));
	*argc = w.nr;
	return 0;
}
