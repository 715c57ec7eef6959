// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * label.c - see label.h. Attributes are gone through one by one: what stands in the quotes of one
 * may look like another.
 */
#include "vmm/qemu/text/label.h"
#include "vmm/qemu/text/xml.h"

#include <stdlib.h>
#include <string.h>

#define VALUE_MAX 1024
#define BLANKS	  " \t\r\n"

/* Its end is the last that there is: metadata may have an element metadata of its own in it. */
char *label_metadata(const char *xml)
{
	static const char end_tag[] = "</metadata>";
	size_t len;
	const char *at = xml_element(xml, "metadata", &len), *end = NULL;

	if (!at || at[len] != '>' || (len && at[len - 1] == '/'))
		return strdup("");
	at += len + 1;
	for (const char *next = at; (next = strstr(next, end_tag)); next += strlen(end_tag))
		end = next;
	return end ? strndup(at, (size_t)(end - at)) : strdup("");
}

/* --- an element -------------------------------------------------------------------------------
 */

struct element {
	const char *name, *rest; /* rest: behind the name, up to its > */
	size_t name_len, len;
};

struct attribute {
	const char *name;
	size_t name_len;
	char value[VALUE_MAX];
	bool fits; /* else the value is longer than any label */
};

/* The next one at *i of the element's rest, which goes on behind it. False: there is none. */
static bool next_attribute(const struct element *e, size_t *i, struct attribute *a)
{
	const char *end = e->rest + e->len, *from, *to;

	a->name = e->rest + *i + strspn(e->rest + *i, BLANKS);
	a->name_len = strcspn(a->name, BLANKS "=/>\"'");
	from = a->name + a->name_len + 2;
	if (!a->name_len || from > end || from[-2] != '=' || (from[-1] != '"' && from[-1] != '\''))
		return false;
	to = memchr(from, from[-1], (size_t)(end - from));
	if (!to)
		return false;
	a->fits = xml_copy(from, (size_t)(to - from), a->value, sizeof(a->value));
	*i = (size_t)(to + 1 - e->rest);
	return true;
}

/* name has `len` characters; a prefix may be left out. */
static bool is_called(const char *name, size_t len, const char *key)
{
	const char *colon = memchr(name, ':', len);

	if (strlen(key) == len && !strncmp(name, key, len))
		return true;
	if (!colon)
		return false;
	len -= (size_t)(colon + 1 - name);
	return strlen(key) == len && !strncmp(colon + 1, key, len);
}

static bool text_is(const struct element *e, const char *value)
{
	char text[VALUE_MAX];

	return xml_text(e->rest, e->len, text, sizeof(text)) && !strcmp(text, value);
}

static bool is_word(const struct attribute *a, const char *word)
{
	return a->name_len == strlen(word) && !strncmp(a->name, word, a->name_len);
}

static bool element_is(const struct element *e, const char *key, const char *value)
{
	bool named = is_called(e->name, e->name_len, key), valued = false;
	struct attribute a;

	for (size_t i = 0; next_attribute(e, &i, &a);) {
		if (!a.fits)
			continue;
		if (is_called(a.name, a.name_len, key) && !strcmp(a.value, value))
			return true;
		named |= (is_word(&a, "name") || is_word(&a, "key")) && !strcmp(a.value, key);
		valued |= is_word(&a, "value") && !strcmp(a.value, value);
	}
	return named && (valued || text_is(e, value));
}

/* --- all of them -------------------------------------------------------------------------------
 */

/* Behind what is none, though it may have some in it: comments, CDATA. Else NULL. */
static const char *behind_other(const char *at)
{
	static const struct {
		const char *begin, *end;
	} others[] = {{"!--", "-->"}, {"![CDATA[", "]]>"}, {"?", "?>"}};

	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		const char *end;

		if (strncmp(at, others[i].begin, strlen(others[i].begin)) != 0)
			continue;
		end = strstr(at + strlen(others[i].begin), others[i].end);
		return end ? end : at + strlen(at);
	}
	return NULL;
}

/* Where an element's > is; one in quotes is none. NULL: it has no end. */
static const char *end_of(const char *at)
{
	for (char quote = 0; *at; at++) {
		if (quote)
			quote = *at == quote ? 0 : quote;
		else if (*at == '"' || *at == '\'')
			quote = *at;
		else if (*at == '>')
			return at;
	}
	return NULL;
}

/* at: behind a <, and end the > that belongs to it. */
static bool has_label(const char *at, const char *end, const char *key, const char *value)
{
	struct element e = {.name = at, .name_len = strcspn(at, BLANKS "/>")};

	e.rest = at + e.name_len;
	e.len = (size_t)(end - e.rest);
	return e.name_len && element_is(&e, key, value);
}

bool label_is(const char *metadata, const char *key, const char *value)
{
	const char *at = metadata, *other, *end;

	while ((at = strchr(at, '<'))) {
		other = behind_other(++at);
		end = other ? other : end_of(at);
		if (!end)
			return false;
		if (!other && has_label(at, end, key, value))
			return true;
		at = end;
	}
	return false;
}
