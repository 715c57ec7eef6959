// SPDX-License-Identifier: GPL-2.0-or-later
/* params.c - finds the command line through boot_params and looks words up in it. */
#include "guest.h"

#define BOOT_PARAMS_CMDLINE 0x228 /* setup_header.cmd_line_ptr */

static const char *cmdline = "";

void params_init(uint64_t boot_params)
{
	cmdline = phys_ptr(*(uint32_t *)phys_ptr(boot_params + BOOT_PARAMS_CMDLINE));
}

/* The text behind "name=", or NULL. The last one counts. */
static const char *param_find(const char *name)
{
	const char *found = NULL;

	for (const char *p = cmdline; *p; p++) {
		size_t i = 0;

		if (p != cmdline && p[-1] != ' ')
			continue;
		while (name[i] && p[i] == name[i])
			i++;
		if (!name[i] && p[i] == '=')
			found = p + i + 1;
	}
	return found;
}

bool param_is(const char *name, const char *val)
{
	const char *p = param_find(name);

	if (!p)
		return false;
	while (*val && *p == *val)
		p++, val++;
	return !*val && (!*p || *p == ' ');
}

uint64_t param_number(const char *name, uint64_t otherwise)
{
	const char *p = param_find(name);
	uint64_t val = 0;

	if (!p)
		return otherwise;
	for (; *p >= '0' && *p <= '9'; p++)
		val = val * 10 + (uint64_t)(*p - '0');
	return val;
}
