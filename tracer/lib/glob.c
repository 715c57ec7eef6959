// SPDX-License-Identifier: GPL-2.0-or-later
/* glob.c - see glob.h */
#include "tracer/lib/glob.h"

#include <string.h>

/* The type of a text of len bytes; stars of the simple types at its end are cut off. */
static enum glob_type text_type(char *text, size_t len)
{
	enum glob_type type = GLOB_FULL;

	for (size_t i = 0; i < len; i++) {
		if (strchr("[?\\", text[i]))
			return GLOB_PATTERN;
		if (text[i] != '*')
			continue;
		if (!i) {
			type = GLOB_END;
		} else if (i == len - 1) {
			text[i] = '\0';
			type = type == GLOB_END ? GLOB_MIDDLE : GLOB_FRONT;
		} else {
			return GLOB_PATTERN;
		}
	}
	return type;
}

void glob_parse(struct glob *g, char *text)
{
	g->invert = text[0] == '!';
	text += g->invert;
	if (text[0] >= '0' && text[0] <= '9')
		g->type = GLOB_INDEX;
	else
		g->type = text_type(text, strlen(text));
	if (g->type == GLOB_END || g->type == GLOB_MIDDLE)
		text++;
	g->search = text;
	g->len = strlen(text);
}

bool glob_match(const struct glob *g, const char *name)
{
	size_t len;

	switch (g->type) {
	case GLOB_FULL:
		return !strcmp(name, g->search);
	case GLOB_FRONT:
		return !strncmp(name, g->search, g->len);
	case GLOB_MIDDLE:
		return strstr(name, g->search);
	case GLOB_END:
		len = strlen(name);
		return len >= g->len && !memcmp(name + len - g->len, g->search, g->len);
	case GLOB_PATTERN:
		return glob_pattern_match(g->search, name);
	case GLOB_INDEX:
		break;
	}
	return false;
}

/*
 * Whether c is in the class whose text begins at *class, behind the bracket; *class is moved past
 * it. A class without an end is none: then false, and the bracket stands for itself.
 */
static bool class_match(const char **class, char c, bool *in)
{
	const unsigned char *p = (const unsigned char *)*class;
	unsigned char u = (unsigned char)c;
	bool invert = *p == '!';

	*in = false;
	p += invert;
	do { /* the first may be a ] */
		unsigned char from = *p++, to = from;

		if (p[-1] && p[0] == '-' && p[1] != ']') {
			to = p[1];
			p += 2;
		}
		if (!from || !to)
			return false;
		*in |= from <= u && u <= to;
	} while (*p != ']');
	*in = *in != invert && c;
	*class = (const char *)p + 1;
	return true;
}

/* One place of the pattern, not a star, against one character. */
static bool place_match(const char **pattern, char c)
{
	char p = *(*pattern)++;
	bool in;

	if (p == '?')
		return c;
	if (p == '[' && class_match(pattern, c, &in))
		return in;
	if (p == '\\')
		p = *(*pattern)++;
	return c && p == c;
}

/* A backslash with nothing behind it stands for nothing. */
static bool pattern_over(const char *pattern)
{
	return !pattern[0] || (pattern[0] == '\\' && !pattern[1]);
}

bool glob_pattern_match(const char *pattern, const char *name)
{
	/* Behind the star met last, and the first of name that it has not been tried to cover. */
	const char *star = NULL, *rest = NULL;

	for (;;) {
		if (*pattern == '*') {
			star = ++pattern;
			rest = name;
			if (!*star)
				return true;
			continue;
		}
		if (pattern_over(pattern) && !*name)
			return true;
		if (!pattern_over(pattern) && place_match(&pattern, *name)) {
			name++;
			continue;
		}
		if (!star || !*rest)
			return false;
		pattern = star;
		name = ++rest;
	}
}
