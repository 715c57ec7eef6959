// SPDX-License-Identifier: GPL-2.0-or-later
/* there.c - see there.h */
#include "frontend/ship/there.h"

#include <stdlib.h>
#include <string.h>

enum { NUMBERS_MAX = 1 << 26 }; /* whoever says more lies */

static bool set(struct there *t, uint32_t number)
{
	size_t at = number / 8;

	if (number >= NUMBERS_MAX)
		return false;
	if (at >= t->bytes) {
		size_t bytes = 2 * at + 64;
		uint8_t *bits = realloc(t->bits, bytes);

		if (!bits)
			return false;
		memset(bits + t->bytes, 0, bytes - t->bytes);
		t->bits = bits;
		t->bytes = bytes;
	}
	t->bits[at] |= (uint8_t)(1 << number % 8);
	return true;
}

bool there_add(struct there *t, uint32_t size, const void *answer, size_t len)
{
	const uint8_t *at = answer;
	uint32_t pair[2];

	for (; len >= sizeof(pair); at += sizeof(pair), len -= sizeof(pair)) {
		memcpy(pair, at, sizeof(pair));
		if (pair[0] != size)
			t->other_size = pair[0];
		else if (!set(t, pair[1]))
			return false;
	}
	return !len;
}

bool there_has(const struct there *t, uint32_t number)
{
	return number / 8 < t->bytes && t->bits[number / 8] >> number % 8 & 1;
}

void there_clear(struct there *t)
{
	free(t->bits);
	*t = (struct there){.bits = NULL};
}
