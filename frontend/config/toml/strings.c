// SPDX-License-Identifier: GPL-2.0-or-later
/* strings.c - see strings.h */
#include "frontend/config/toml/strings.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static size_t put_utf8(char *to, uint32_t c)
{
	size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
	static const unsigned char first[] = {0, 0, 0xc0, 0xe0, 0xf0};

	for (size_t i = n; i-- > 1; c >>= 6)
		to[i] = (char)(0x80 | (c & 0x3f));
	to[0] = (char)(first[n] | c);
	return n;
}

/* A text as it is read, and what it says so far: never longer than what is read. */
struct unquoted {
	const char *at, *end;
	char *to;
	struct mistakes *mistakes;
	unsigned int line;
};

static bool put_character(struct unquoted *u, size_t nr)
{
	char digits[9] = "";
	uint32_t c;

	memcpy(digits, u->at, nr);
	u->at += nr;
	c = (uint32_t)strtoul(digits, NULL, 16);
	if (!c) {
		toml_mistake(u->mistakes, u->line, "a string cannot have the character 0 in it");
		return false;
	}
	if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000)) {
		toml_mistake(u->mistakes, u->line, "there is no character U+%s", digits);
		return false;
	}
	u->to += put_utf8(u->to, c);
	return true;
}

static bool put_escape(struct unquoted *u)
{
	static const char letters[] = "btnfr\"\\", means[] = "\b\t\n\f\r\"\\";
	char c = *u->at++;

	if (c == 'u' || c == 'U')
		return put_character(u, c == 'u' ? 4 : 8);
	if (strchr(letters, c)) {
		*u->to++ = means[strchr(letters, c) - letters];
		return true;
	}
	/* The end of a line: what it and those behind it begin with is left out. */
	for (u->at--; u->at < u->end && strchr(" \t\r\n", *u->at); u->at++)
		u->line += *u->at == '\n';
	return true;
}

static bool unquote(struct unquoted *u, bool escapes)
{
	while (u->at < u->end) {
		char c = *u->at++;

		if (c == '\\' && escapes) {
			if (!put_escape(u))
				return false;
			continue;
		}
		u->line += c == '\n';
		*u->to++ = c;
	}
	return true;
}

const char *toml_string_read(struct toml_memory *m, struct mistakes *mistakes, unsigned int line,
			     const char *text, size_t len)
{
	bool lines = len >= 6 && text[1] == *text && text[2] == *text;
	size_t quotes = lines ? 3 : 1;
	struct unquoted u = {text + quotes, text + len - quotes, NULL, mistakes, line};
	char *string = toml_memory_take(m, len);

	if (!string) {
		toml_mistake_no_memory(mistakes);
		return NULL;
	}
	/* The end of the line that the quotes stand in is none of the string. */
	if (lines && u.at < u.end && *u.at == '\r')
		u.at++;
	if (lines && u.at < u.end && *u.at == '\n') {
		u.at++;
		u.line++;
	}
	u.to = string;
	return unquote(&u, *text == '"') ? string : NULL;
}

static size_t part_len(const char *text, size_t len)
{
	size_t i = 1;

	if (*text != '"' && *text != '\'') {
		while (i < len && !strchr(". \t", text[i]))
			i++;
		return i;
	}
	while (i < len && text[i] != *text)
		i += 1 + (text[i] == '\\' && *text == '"');
	return i < len ? i + 1 : len;
}

static const char *read_part(struct toml_memory *m, struct mistakes *mistakes, unsigned int line,
			     const char *text, size_t len)
{
	char *part;

	if (*text == '"' || *text == '\'')
		return toml_string_read(m, mistakes, line, text, len);
	part = toml_memory_take(m, len + 1);
	if (part)
		memcpy(part, text, len);
	else
		toml_mistake_no_memory(mistakes);
	return part;
}

bool toml_key_read(struct toml_memory *m, struct mistakes *mistakes, unsigned int line,
		   const char *text, size_t len, struct key_path *path)
{
	*path = (struct key_path){.line = line};
	for (size_t n; len; text += n, len -= n) {
		n = 1;
		if (strchr(". \t", *text))
			continue;
		n = part_len(text, len);
		if (path->nr == TOML_DEPTH) {
			toml_mistake(mistakes, line, "a key of more than %d parts", TOML_DEPTH);
			return false;
		}
		path->parts[path->nr] = read_part(m, mistakes, line, text, n);
		if (!path->parts[path->nr++])
			return false;
	}
	return path->nr > 0;
}
