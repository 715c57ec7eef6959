// SPDX-License-Identifier: GPL-2.0-or-later
/* color.c - see color.h */
#include "frontend/lib/color.h"

#include <stdlib.h>
#include <string.h>

enum when { WHEN_AUTO, WHEN_ALWAYS, WHEN_NEVER };

static const char *const when_names[] = {
	[WHEN_AUTO] = "auto",
	[WHEN_ALWAYS] = "always",
	[WHEN_NEVER] = "never",
	NULL,
};

/* ECMA-48, SGR: the eight colours that each terminal has, in the shades that its owner likes. */
static const char *const codes[] = {
	[COLOR_NONE] = "",    [COLOR_HEADING] = "1", [COLOR_FAINT] = "2", [COLOR_FUNCTION] = "36",
	[COLOR_EVENT] = "35", [COLOR_GOOD] = "32",   [COLOR_WARN] = "33", [COLOR_BAD] = "1;31",
};

/* Of the process: its streams are, too. */
static enum when chosen = WHEN_AUTO;

const char *color_when(unsigned int i)
{
	return i < sizeof(when_names) / sizeof(when_names[0]) ? when_names[i] : NULL;
}

bool color_choose(const char *when)
{
	for (unsigned int i = 0; color_when(i); i++)
		if (!strcmp(when, color_when(i))) {
			chosen = (enum when)i;
			return true;
		}
	return false;
}

/* "" where it is not set. */
static const char *value_of(const char *variable)
{
	const char *value = getenv(variable);

	return value ? value : "";
}

static bool is_dumb(void)
{
	const char *term = value_of("TERM");

	return !*term || !strcmp(term, "dumb");
}

bool color_is_wanted(bool terminal)
{
	if (chosen != WHEN_AUTO)
		return chosen == WHEN_ALWAYS;
	if (*value_of("NO_COLOR"))
		return false;
	if (*value_of("CLICOLOR_FORCE") && strcmp(value_of("CLICOLOR_FORCE"), "0") != 0)
		return true;
	return terminal && !is_dumb();
}

void color_add(struct text *to, enum color color, const char *text, size_t len)
{
	if (color != COLOR_NONE && len)
		text_printf(to, "\033[%sm", codes[color]);
	text_add(to, text, len);
	if (color != COLOR_NONE && len)
		text_puts(to, "\033[m");
}
