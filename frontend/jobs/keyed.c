// SPDX-License-Identifier: GPL-2.0-or-later
/* keyed.c - see keyed.h */
#include "frontend/jobs/keyed.h"

#include <stdlib.h>
#include <string.h>

bool keyed_init(struct keyed *k, uint32_t room)
{
	*k = (struct keyed){
		.key = calloc(2 * (size_t)room, sizeof(*k->key)),
		.value = calloc(2 * (size_t)room, sizeof(*k->value)),
		.mask = 2 * room - 1,
		.hash = guestsym_hash_key_new(),
	};
	if (!k->key || !k->value)
		return false;
	keyed_clear(k);
	return true;
}

void keyed_exit(struct keyed *k)
{
	free(k->key);
	free(k->value);
}

void keyed_clear(struct keyed *k)
{
	memset(k->value, 0xff, ((size_t)k->mask + 1) * sizeof(*k->value));
}

uint32_t *keyed_place(struct keyed *k, uint64_t key)
{
	uint32_t i = (uint32_t)guestsym_hash_keyed(&k->hash, &key, sizeof(key)) & k->mask;

	while (k->value[i] != KEYED_NONE && k->key[i] != key)
		i = (i + 1) & k->mask;
	if (k->value[i] == KEYED_NONE)
		k->key[i] = key;
	return &k->value[i];
}
