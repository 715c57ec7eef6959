// SPDX-License-Identifier: GPL-2.0-or-later
/* hash.c - one 64-bit checksum, for names and for whole images. */
#include "guestsym/internal.h"

#define HASH_PRIME UINT64_C(0x9e3779b97f4a7c15)

static uint64_t mix(uint64_t h, uint64_t word)
{
	h ^= word;
	return (h << 29 | h >> 35) * HASH_PRIME;
}

/* Four lanes: a multiplication takes longer than reading the next eight bytes. */
uint64_t hash64(const void *data, size_t len)
{
	const uint8_t *p = data;
	uint64_t lane[4] = {1, 2, 3, 4}, h = len, tail = 0;

	if (len >= 32) {
		for (; len >= 32; len -= 32, p += 32)
			for (int i = 0; i < 4; i++)
				lane[i] = mix(lane[i], get_u64(p + 8 * i));
		for (int i = 0; i < 4; i++)
			h = mix(h, lane[i]);
	}
	for (; len >= 8; len -= 8, p += 8)
		h = mix(h, get_u64(p));
	memcpy(&tail, p, len);
	h = mix(h, tail);
	return h ^ h >> 32;
}
