// SPDX-License-Identifier: GPL-2.0-or-later
/* words.c - words with a comma between them. */
#include "frontend/devices/words.h"

#include <stdlib.h>
#include <string.h>

char *words_next(const char **at)
{
	char *word = malloc(strlen(*at) + 1), *to = word;
	const char *from = *at;

	if (!word)
		return NULL;
	for (; *from && !(from[0] == ',' && from[1] != ','); from++) {
		*to++ = *from;
		if (from[0] == ',')
			from++; /* of two */
	}
	*to = '\0';
	*at = *from ? from + 1 : NULL;
	return word;
}

char *words_of(const char *name, const char *behind)
{
	char *words = malloc(2 * strlen(name) + strlen(behind) + 1), *to = words;

	if (!words)
		return NULL;
	for (; *name; name++) {
		if (*name == ',')
			*to++ = ',';
		*to++ = *name;
	}
	strcpy(to, behind);
	return words;
}

const char *words_value(const char *word, const char *key)
{
	size_t len = strlen(key);

	return !strncmp(word, key, len) && word[len] == '=' ? word + len + 1 : NULL;
}
