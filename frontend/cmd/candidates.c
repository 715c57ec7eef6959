// SPDX-License-Identifier: GPL-2.0-or-later
/* candidates.c - what is looked for, and where; see candidates.h. */
#include "frontend/cmd/candidates.h"

#include <stdio.h>
#include <string.h>

/* Names may be anybody's: a line is one name, and no shell is to see more than letters in it. */
void candidates_offer(struct candidates *c, const char *name)
{
	for (const char *at = name; *at; at++)
		if ((unsigned char)*at < ' ' || *at == 0x7f)
			return;
	if (!*name || strncmp(name, c->begun, strlen(c->begun)) != 0)
		return;
	text_puts(&c->found, name);
	text_putc(&c->found, '\n');
}

void candidates_offer_event(struct candidates *c, const char *system, const char *event)
{
	char name[512];

	snprintf(name, sizeof(name), "%s:%s", system, event);
	candidates_offer(c, name);
}

/* Whether the i-th word is an option; its value is behind it, or the next word. */
static bool is_option(const struct candidates *c, int i, const char *letter, const char *name,
		      const char **value)
{
	const char *word = c->words[i];
	size_t len = strlen(name);

	*value = i + 1 < c->nr_words ? c->words[i + 1] : NULL;
	if (!strcmp(word, name) || (letter && !strcmp(word, letter)))
		return true;
	if (!strncmp(word, name, len) && word[len] == '=')
		*value = word + len + 1;
	else if (letter && !strncmp(word, letter, 2))
		*value = word + 2;
	else
		return false;
	return true;
}

const char *candidates_value(const struct candidates *c, const char *letter, const char *name)
{
	const char *value;

	for (int i = 1; i < c->nr_words; i++)
		if (is_option(c, i, letter, name, &value))
			return value;
	return NULL;
}

static const struct {
	const char *kind;
	candidates_find *find;
} kinds[] = {
	{"buffer", candidates_buffers},
	{"domain", candidates_domains},
	{"event", candidates_events},
	{"function", candidates_functions},
	{"guest", candidates_guests},
	{"instance", candidates_instances},
	{"recorded-event", candidates_recorded_events},
	{"recorded-function", candidates_recorded_functions},
	{"trace-file", candidates_trace_files},
	{"trace-setting", candidates_trace_settings},
	{"traced-function", candidates_traced_functions},
	{"uri", candidates_uris},
};

candidates_find *candidates_of(const char *kind)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(kinds[i].kind, kind))
			return kinds[i].find;
	return NULL;
}
