// SPDX-License-Identifier: GPL-2.0-or-later
/* addr-index.c - see addr-index.h */
#include "tracer/lib/addr-index.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SLOTS_MIN 16
/* Of a table that is half full, by chance: less than a hundred even where there are millions. */
#define TRIES 1024

int addr_index_init(struct addr_index *x, size_t n, addr_index_fn *addr, const void *arg)
{
	size_t size = SLOTS_MIN;

	while (size < 2 * n)
		size *= 2;
	*x = (struct addr_index){
		.slot = malloc(size * sizeof(*x->slot)),
		.mask = (uint32_t)(size - 1),
		.key = guestsym_hash_key_new(),
		.addr = addr,
		.arg = arg,
	};
	if (!x->slot)
		return -ENOMEM;
	memset(x->slot, 0xff, size * sizeof(*x->slot));
	return 0;
}

void addr_index_exit(struct addr_index *x)
{
	free(x->slot);
	x->slot = NULL;
}

/*
 * For each record that is filtered a function is looked up: so it is two multiplications by what
 * nobody outside knows, with a fold between them, as one alone keeps distances that are even.
 */
static uint32_t hash(const struct addr_index *x, uint64_t addr)
{
	uint64_t h = (addr ^ x->key.k[0]) * (x->key.k[1] | 1);

	h = (h ^ h >> 32) * (x->key.k[0] | 1);
	return (uint32_t)(h >> 32);
}

uint32_t *addr_index_place(const struct addr_index *x, uint64_t addr)
{
	uint32_t at = hash(x, addr);

	for (unsigned int n = 0; n < TRIES; n++, at++) {
		uint32_t *slot = &x->slot[at & x->mask];

		if (*slot == ADDR_INDEX_NONE || x->addr(x->arg, *slot) == addr)
			return slot;
	}
	return NULL;
}
