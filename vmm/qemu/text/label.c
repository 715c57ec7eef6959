// SPDX-License-Identifier: GPL-2.0-or-later
/* label.c - see label.h */
#include "vmm/qemu/text/label.h"
#include "vmm/qemu/text/xml.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VALUE_MAX 1024

char *label_metadata(const char *xml)
{
	size_t len;
	const char *at = xml_element(xml, "metadata", &len), *end;

	if (!at || at[len] != '>' || (len && at[len - 1] == '/'))
		return strdup("");
	at += len + 1;
	end = strstr(at, "</metadata>");
	return end ? strndup(at, (size_t)(end - at)) : strdup("");
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

static bool has_attribute(const char *element, size_t len, const char *name, const char *value)
{
	char text[VALUE_MAX];

	return xml_attribute(element, len, name, text, sizeof(text)) && !strcmp(text, value);
}

/* One with a prefix is looked for as it stands; `key` without one finds it, too. */
static bool attribute_is(const char *element, size_t len, const char *key, const char *value)
{
	for (size_t i = 1; i < len; i++) {
		size_t name_len = strcspn(element + i, "=> \t\r\n/\"'");
		char name[128];

		if (!strchr(" \t\r\n", element[i - 1]) || i + name_len >= len ||
		    element[i + name_len] != '=')
			continue;
		snprintf(name, sizeof(name), "%.*s", (int)name_len, element + i);
		if (name_len < sizeof(name) && is_called(name, name_len, key) &&
		    has_attribute(element + i - 1, len - i + 1, name, value))
			return true;
	}
	return false;
}

static bool text_is(const char *element, size_t len, const char *value)
{
	char text[VALUE_MAX];

	return xml_text(element, len, text, sizeof(text)) && !strcmp(text, value);
}

/* element: behind its name, up to its >. */
static bool element_is(const char *name, size_t name_len, const char *element, size_t len,
		       const char *key, const char *value)
{
	if (is_called(name, name_len, key) && text_is(element, len, value))
		return true;
	if (has_attribute(element, len, "name", key) || has_attribute(element, len, "key", key))
		return has_attribute(element, len, "value", value) || text_is(element, len, value);
	return attribute_is(element, len, key, value);
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

bool label_is(const char *metadata, const char *key, const char *value)
{
	const char *at = metadata;

	while ((at = strchr(at, '<'))) {
		size_t name_len = strcspn(++at, " \t\r\n/>");
		const char *end;

		if (!strncmp(at, "!--", 3)) {
			at = strstr(at, "-->");
			if (!at)
				return false;
			continue;
		}
		end = end_of(at);
		if (!end)
			return false;
		if (name_len && element_is(at, name_len, at + name_len,
					   (size_t)(end - at) - name_len, key, value))
			return true;
	}
	return false;
}
