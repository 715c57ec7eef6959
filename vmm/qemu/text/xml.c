// SPDX-License-Identifier: GPL-2.0-or-later
/* xml.c - a scanner for elements, their attributes and their text, and the way back for text. */
#include "vmm/qemu/text/xml.h"

#include <string.h>

const char *xml_element(const char *at, const char *name, size_t *len)
{
	size_t name_len = strlen(name);
	const char *end;

	while ((at = strchr(at, '<'))) {
		at++;
		if (!strncmp(at, "!--", 3)) {
			at = strstr(at, "-->");
			if (!at)
				return NULL;
			continue;
		}
		if (strncmp(at, name, name_len) || !strchr(" \t\r\n/>", at[name_len]))
			continue;
		at += name_len;
		end = strchr(at, '>');
		if (!end)
			return NULL;
		*len = (size_t)(end - at);
		return at;
	}
	return NULL;
}

static const struct {
	const char *name;
	char is;
} entities[] = {
	{"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&apos;", '\''},
};

/* The character that an entity stands for, and its length; of others the & as it stands. */
static char entity(const char *at, size_t *len)
{
	for (size_t i = 0; i < sizeof(entities) / sizeof(entities[0]); i++) {
		*len = strlen(entities[i].name);
		if (!strncmp(at, entities[i].name, *len))
			return entities[i].is;
	}
	*len = 1;
	return *at;
}

bool xml_copy(const char *from, size_t len, char *text, size_t room)
{
	size_t n = 0, step;

	for (const char *at = from; at < from + len; at += step) {
		if (n + 1 >= room)
			return false;
		text[n++] = entity(at, &step);
	}
	text[n] = '\0';
	return true;
}

static bool is_xml_space(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

bool xml_attribute(const char *element, size_t len, const char *name, char *value, size_t room)
{
	size_t name_len = strlen(name);

	for (size_t i = 1; i + name_len + 2 <= len; i++) {
		const char *from = element + i + name_len + 2, *end;

		if (!is_xml_space(element[i - 1]) || strncmp(element + i, name, name_len) ||
		    from[-2] != '=' || (from[-1] != '"' && from[-1] != '\''))
			continue;
		end = memchr(from, from[-1], len - (size_t)(from - element));
		return end && xml_copy(from, (size_t)(end - from), value, room);
	}
	return false;
}

bool xml_text(const char *element, size_t len, char *text, size_t room)
{
	const char *at = element + len, *end = *at ? strchr(at, '<') : NULL;

	if (!end || *at != '>' || (len && at[-1] == '/'))
		return false;
	return xml_copy(at + 1, (size_t)(end - at) - 1, text, room);
}

static const char *entity_for(char c)
{
	for (size_t i = 0; i < sizeof(entities) / sizeof(entities[0]); i++) {
		if (entities[i].is == c)
			return entities[i].name;
	}
	return NULL;
}

void xml_print(FILE *out, const char *text)
{
	for (; *text; text++) {
		const char *name = entity_for(*text);

		if (name)
			fputs(name, out);
		else
			fputc(*text, out);
	}
}
