// SPDX-License-Identifier: GPL-2.0-or-later
/* mistakes.c - see mistakes.h */
#include "frontend/config/toml/mistakes.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void toml_mistake(struct mistakes *m, unsigned int line, const char *format, ...)
{
	char what[320];
	va_list args;

	m->nr++;
	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	m->ear.tell(m->ear.arg, line, what);
}

bool toml_mistakes_are_enough(const struct mistakes *m)
{
	return m->nr >= TOML_MISTAKES;
}

void toml_mistake_no_memory(struct mistakes *m)
{
	toml_mistake(m, 1, "out of memory");
}

/* --- statements --------------------------------------------------------------------------- */

/* Behind the first = that is not in a string, and behind the blanks there. NULL: there is none. */
const char *toml_statement_value(const struct statement *s)
{
	const char *end = s->text + s->len;
	char quote = '\0';

	for (const char *at = s->text; at < end && *at != '\n' && *at != '#'; at++) {
		if (quote)
			quote = *at == quote ? '\0' : quote;
		else if (*at == '"' || *at == '\'')
			quote = *at;
		else if (*at == '=') {
			at++;
			while (at < end && (*at == ' ' || *at == '\t'))
				at++;
			return at;
		}
	}
	return NULL;
}

static size_t word_len(const char *word, const char *end)
{
	size_t len = 0;

	while (word + len < end && !strchr(" \t\r\n,]}#\"'", word[len]))
		len++;
	return len;
}

static bool word_is(const char *word, size_t len, const char *other)
{
	return len == strlen(other) && !strncasecmp(word, other, len);
}

static bool is_switch(const char *word, size_t len)
{
	return word_is(word, len, "true") || word_is(word, len, "false") ||
	       word_is(word, len, "yes") || word_is(word, len, "no") || word_is(word, len, "on") ||
	       word_is(word, len, "off");
}

/* All words up to a comment. */
static size_t words_len(const char *word, const char *end)
{
	size_t len = 0;

	while (word + len < end && !strchr("\r\n#", word[len]))
		len++;
	while (len && strchr(" \t", word[len - 1]))
		len--;
	return len;
}

bool toml_mistake_is_word(struct mistakes *m, const struct statement *s, const char *word,
			  unsigned int line)
{
	const char *value = toml_statement_value(s), *end = s->text + s->len;
	size_t len = word_len(word, end);

	if (word > value && strchr("\"'", *value)) {
		toml_mistake(m, line, "%.*s has no place behind the string", (int)len, word);
		return true;
	}
	/* What stands in no brackets is all of the value, as in 5 parsecs. */
	if (!strchr("[{", *value)) {
		word = value;
		len = words_len(word, end);
	}
	if (!len || len > 64 || strchr("[{", *word))
		return false;
	if (is_switch(word, len))
		toml_mistake(m, line, "%.*s is no value; write true or false", (int)len, word);
	else
		toml_mistake(
			m, line,
			"%.*s is no value; a text, a time or a size stands in quotes: \"%.*s\"",
			(int)len, word, (int)len, word);
	return true;
}

void toml_mistake_in_statement(struct mistakes *m, const struct statement *s, unsigned int line)
{
	const char *end = s->text + s->len, *value = toml_statement_value(s);

	if (*s->text == '[') {
		toml_mistake(m, line, "this is no header of a table; write [NAME] or [[NAME]]");
		return;
	}
	if (!value) {
		toml_mistake(m, line, "a line is KEY = VALUE, [NAME] or [[NAME]]");
		return;
	}
	if (value == end || strchr("\r\n#", *value)) {
		toml_mistake(m, line, "a value is missing behind the =");
		return;
	}
	if (line == s->line && toml_mistake_is_word(m, s, value, line))
		return;
	toml_mistake(m, line,
		     "this is not TOML: KEY = VALUE, where a VALUE is \"text\", a number, true, "
		     "false, [VALUE, ...] or { KEY = VALUE, ... }");
}
