// SPDX-License-Identifier: GPL-2.0-or-later
/* nearest.c - see nearest.h */
#include "tracer/lib/nearest.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* A short word is soon another one by as many slips as a long one may have. */
static unsigned int slips_allowed(size_t len)
{
	return len < 3 ? 0 : len < 6 ? 1 : len < 12 ? 2 : 3;
}

void nearest_begin(struct nearest *n, const char *word)
{
	size_t len = strlen(word);

	*n = (struct nearest){.distance = 0};
	if (len >= sizeof(n->word) || strpbrk(word, "*?["))
		return;
	memcpy(n->word, word, len + 1);
	n->distance = slips_allowed(len) + 1;
}

static unsigned int least(unsigned int a, unsigned int b)
{
	return a < b ? a : b;
}

/*
 * How many letters have to be put in, left out, replaced, or exchanged with the one beside them to
 * make one word of the other (optimal string alignment). rows[i % 3] is of the first i letters of
 * a.
 */
static unsigned int slips(const char *a, size_t na, const char *b, size_t nb)
{
	unsigned int rows[3][NEAREST_LEN];

	for (size_t i = 0; i <= na; i++) {
		unsigned int *row = rows[i % 3], *above = rows[(i + 2) % 3];

		row[0] = (unsigned int)i;
		for (size_t j = 1; j <= nb; j++) {
			if (!i) {
				row[j] = (unsigned int)j;
				continue;
			}
			row[j] = least(above[j - 1] + (a[i - 1] != b[j - 1]),
				       least(above[j], row[j - 1]) + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				row[j] = least(row[j], rows[(i + 1) % 3][j - 2] + 1);
		}
	}
	return rows[na % 3][nb];
}

/* Its beginning, or its end behind an underscore: sys_getppid is in __do_sys_getppid. */
static bool is_part(const char *word, size_t wrong, const char *name, size_t len)
{
	if (wrong < 3 || wrong >= len)
		return false;
	return !memcmp(name, word, wrong) ||
	       (name[len - wrong - 1] == '_' && !memcmp(name + len - wrong, word, wrong));
}

void nearest_try(struct nearest *n, const char *name)
{
	size_t wrong = strlen(n->word), len = strnlen(name, NEAREST_LEN);
	size_t apart = wrong > len ? wrong - len : len - wrong;
	unsigned int distance;

	if (!n->distance || len == NEAREST_LEN)
		return;
	/* Who has written a part of it has made one slip. */
	if (is_part(n->word, wrong, name, len))
		distance = 1;
	else if (apart > n->distance)
		return;
	else
		distance = slips(n->word, wrong, name, len);
	if (distance > n->distance || (distance == n->distance && (!*n->best || apart >= n->apart)))
		return;
	n->distance = distance;
	n->apart = apart;
	memcpy(n->best, name, len + 1);
}

const char *nearest_name(const struct nearest *n)
{
	return *n->best ? n->best : NULL;
}

const char *nearest_hint(const struct nearest *n, const char *before, char *hint, size_t size)
{
	*hint = '\0';
	if (*n->best)
		snprintf(hint, size, "; did you mean %s%s?", before, n->best);
	return hint;
}
