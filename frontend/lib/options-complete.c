// SPDX-License-Identifier: GPL-2.0-or-later
/* options-complete.c - what completes the values and operands of a table of options. */
#include "frontend/lib/options-form.h"

#include <string.h>

/* What values are that are called so. */
static const struct {
	const char *arg, *kind;
} kinds[] = {
	{"DIR", COMPLETE_DIRECTORY},
	{"FILE", COMPLETE_FILE},
	{"IMAGE", COMPLETE_FILE},
	{"DOMAIN", "domain"},
	{"DOMAIN|FILE", COMPLETE_DOMAIN_OR_FILE},
	{"EVENT", "event"},
	{"FUNCTION", "function"},
	{"GLOB", "function"},
	{"URI", "uri"},
};

static const char *kind_of(const char *arg, size_t len)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strlen(kinds[i].arg) == len && !strncmp(kinds[i].arg, arg, len))
			return kinds[i].kind;
	return COMPLETE_NOTHING;
}

const char *option_completes(const struct option_row *row)
{
	return row->complete ? row->complete : kind_of(row->arg, strlen(row->arg));
}

/* The last word of the first form, "[FILE]", "[GLOB]...", "DOMAIN", unless that is "[OPTION]...".
 */
static const char *operand(const struct option_usage *usage, size_t *len)
{
	const char *end = usage->synopsis + strcspn(usage->synopsis, "\n"), *word = end;

	while (word > usage->synopsis && word[-1] != ' ')
		word--;
	*len = (size_t)(end - word);
	if (!strncmp(word, "[OPTION]", strlen("[OPTION]")))
		*len = 0;
	return word;
}

const char *option_operands_complete(const struct option_row *rows,
				     const struct option_usage *usage)
{
	size_t len;
	const char *word = operand(usage, &len);

	while (rows->name)
		rows++;
	if (rows->complete || !len)
		return rows->complete ? rows->complete : COMPLETE_NOTHING;
	word += *word == '[';
	return kind_of(word, strspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZ|"));
}

bool option_operands_repeat(const struct option_usage *usage)
{
	size_t len;
	const char *word = operand(usage, &len);

	return len > 3 && !strncmp(word + len - 3, "...", 3);
}

const char *option_command_name(const char *title)
{
	const char *blank = strchr(title, ' ');

	return blank ? blank + 1 : title;
}
