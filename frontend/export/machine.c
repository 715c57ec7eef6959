// SPDX-License-Identifier: GPL-2.0-or-later
/* machine.c - see machine.h */
#include "frontend/export/machine.h"

#include <string.h>

/* "Linux NODE RELEASE MACHINE", as trace-cmd record writes it. */
char *machine_uname(const struct dat_info *info, enum machine_word word, char buf[NAMES_LEN])
{
	const char *at = info->uname;

	for (unsigned int i = 0; at && i < (unsigned int)word; i++) {
		at = strchr(at, ' ');
		at += at != NULL;
	}
	if (!at)
		return NULL;
	names_clean(buf, at, strcspn(at, " "));
	return buf;
}
