// SPDX-License-Identifier: GPL-2.0-or-later
/* machine.c - see machine.h */
#include "frontend/export/machine.h"

char *machine_uname(const struct dat_info *info, enum dat_uname_word word, char buf[NAMES_LEN])
{
	size_t len;
	const char *at = dat_uname(info, word, &len);

	if (!at)
		return NULL;
	names_clean(buf, at, len);
	return buf;
}
