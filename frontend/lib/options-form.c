// SPDX-License-Identifier: GPL-2.0-or-later
/* options-form.c - which forms there are. */
#include "frontend/lib/options-form.h"

#include <string.h>

static const struct option_form *const forms[] = {
	&option_form_man,
	&option_form_bash,
	&option_form_zsh,
	&option_form_fish,
};

const char *option_form_name(unsigned int i)
{
	return i < sizeof(forms) / sizeof(forms[0]) ? forms[i]->name : NULL;
}

const struct option_form *option_form_find(const char *name)
{
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
		if (!strcmp(name, forms[i]->name))
			return forms[i];
	return NULL;
}
