// SPDX-License-Identifier: GPL-2.0-or-later
/* hash.c - a 64-bit checksum for whole images, and a keyed hash for names and addresses. */
#include "guestsym/internal.h"

#include <sys/random.h>
#include <time.h>

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

/* --- keyed ------------------------------------------------------------------------------- */

static uint64_t rotate(uint64_t v, int bits)
{
	return v << bits | v >> (64 - bits);
}

/* The permutation of SipHash (Aumasson and Bernstein, 2012). */
static void sip_round(uint64_t v[4])
{
	v[0] += v[1];
	v[2] += v[3];
	v[1] = rotate(v[1], 13) ^ v[0];
	v[3] = rotate(v[3], 16) ^ v[2];
	v[0] = rotate(v[0], 32);
	v[2] += v[1];
	v[0] += v[3];
	v[1] = rotate(v[1], 17) ^ v[2];
	v[3] = rotate(v[3], 21) ^ v[0];
	v[2] = rotate(v[2], 32);
}

static void sip_word(uint64_t v[4], uint64_t word)
{
	v[3] ^= word;
	sip_round(v);
	v[0] ^= word;
}

struct guestsym_hash_key guestsym_hash_key_new(void)
{
	struct guestsym_hash_key key;
	struct timespec now;

	if (getrandom(&key, sizeof(key), GRND_NONBLOCK) == (ssize_t)sizeof(key))
		return key;
	/* A host that has just booted: what a guest does not know either. */
	clock_gettime(CLOCK_MONOTONIC, &now);
	key.k[0] = (uint64_t)now.tv_nsec << 32 ^ (uint64_t)now.tv_sec;
	key.k[1] = (uint64_t)(uintptr_t)&key ^ key.k[0] * HASH_PRIME;
	return key;
}

/* SipHash-1-3: one round for a word, three at the end. */
uint64_t guestsym_hash_keyed(const struct guestsym_hash_key *key, const void *data, size_t len)
{
	uint64_t v[4] = {
		key->k[0] ^ UINT64_C(0x736f6d6570736575),
		key->k[1] ^ UINT64_C(0x646f72616e646f6d),
		key->k[0] ^ UINT64_C(0x6c7967656e657261),
		key->k[1] ^ UINT64_C(0x7465646279746573),
	};
	uint64_t last = (uint64_t)len << 56, tail = 0;
	const uint8_t *p = data;

	for (; len >= 8; len -= 8, p += 8)
		sip_word(v, get_u64(p));
	memcpy(&tail, p, len);
	sip_word(v, last | tail);
	v[2] ^= 0xff;
	for (int i = 0; i < 3; i++)
		sip_round(v);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}
