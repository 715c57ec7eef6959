// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * json-find.c - see json-find.h. Values are skipped by their quotes and brackets only: what is no
 * JSON gives some value or none, of the text that there is.
 */
#include "frontend/image/json-find.h"

#include <string.h>

static void skip_space(struct json_value *at)
{
	while (at->len && strchr(" \t\r\n", *at->text) && *at->text)
		at->text++, at->len--;
}

static bool take(struct json_value *at, char c)
{
	skip_space(at);
	if (!at->len || *at->text != c)
		return false;
	at->text++;
	at->len--;
	return true;
}

static void skip(struct json_value *at, size_t n)
{
	at->text += n;
	at->len -= n;
}

/* Behind its first quote: how long it is, without the last one. */
static bool string_length(struct json_value at, size_t *len)
{
	for (*len = 0; *len < at.len && at.text[*len] != '"'; ++*len)
		*len += at.text[*len] == '\\';
	return *len < at.len;
}

/* How long the value is that begins there. */
static bool value_length(struct json_value at, size_t *len)
{
	size_t depth = 0, inner;

	for (*len = 0; *len < at.len; ++*len) {
		char c = at.text[*len];

		if (!depth && (c == ',' || c == '}' || c == ']'))
			return *len > 0;
		depth += c == '{' || c == '[';
		depth -= c == '}' || c == ']';
		if (c != '"')
			continue;
		if (!string_length((struct json_value){at.text + *len + 1, at.len - *len - 1},
				   &inner))
			return false;
		*len += inner + 1;
	}
	return false;
}

/* Spaces behind it are not its own. */
static struct json_value trimmed(const char *text, size_t len)
{
	while (len && strchr(" \t\r\n", text[len - 1]) && text[len - 1])
		len--;
	return (struct json_value){text, len};
}

bool json_find(struct json_value at, const char *name, struct json_value *value)
{
	size_t len;

	if (!take(&at, '{'))
		return false;
	while (take(&at, '"') && string_length(at, &len)) {
		bool is = len == strlen(name) && !memcmp(at.text, name, len);

		skip(&at, len + 1);
		if (!take(&at, ':'))
			return false;
		skip_space(&at);
		if (!value_length(at, &len))
			return false;
		if (is) {
			*value = trimmed(at.text, len);
			return true;
		}
		skip(&at, len);
		if (!take(&at, ','))
			return false;
		skip_space(&at);
	}
	return false;
}

bool json_get_string(struct json_value value, char *to, size_t size)
{
	if (value.len < 2 || value.len - 2 >= size || *value.text != '"' ||
	    value.text[value.len - 1] != '"' || memchr(value.text, '\\', value.len))
		return false;
	for (size_t i = 0; i < value.len; i++)
		if ((unsigned char)value.text[i] < ' ')
			return false;
	memcpy(to, value.text + 1, value.len - 2);
	to[value.len - 2] = '\0';
	return true;
}

bool json_get_number(struct json_value value, uint64_t *to)
{
	*to = 0;
	for (size_t i = 0; i < value.len; i++) {
		if (value.text[i] < '0' || value.text[i] > '9' ||
		    __builtin_mul_overflow(*to, 10, to) ||
		    __builtin_add_overflow(*to, (uint64_t)(value.text[i] - '0'), to))
			return false;
	}
	return value.len;
}

bool json_is_true(struct json_value value)
{
	return value.len == 4 && !memcmp(value.text, "true", 4);
}
