// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * trap-index.c - open addressing with linear probing, at most half full.
 *
 * Deleting moves later entries of the run back instead of leaving marks, so lookups stay short
 * however often traps come and go (Knuth, TAOCP vol. 3, 6.4, algorithm R).
 */
#include "vmm/core/trap-index.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#define FREE	  UINT64_MAX /* no instruction of two bytes starts there */
#define MIN_SLOTS 64

/* Fibonacci hashing: the upper bits of the product depend on all bits of the key. */
static size_t slot_of(const struct trap_index *index, uint64_t key)
{
	return (size_t)(key * 0x9e3779b97f4a7c15ull >> index->shift);
}

static size_t next_slot(const struct trap_index *index, size_t slot)
{
	return (slot + 1) & (index->slots - 1);
}

/* The slot that holds the key, or the free one where it belongs. */
static size_t find_slot(const struct trap_index *index, uint64_t key)
{
	size_t slot = slot_of(index, key);

	while (index->keys[slot] != key && index->keys[slot] != FREE)
		slot = next_slot(index, slot);
	return slot;
}

static int index_alloc(struct trap_index *index, size_t slots)
{
	*index = (struct trap_index){.slots = slots, .shift = 64};
	while (slots >>= 1)
		index->shift--;
	index->keys = malloc(index->slots * sizeof(*index->keys));
	index->values = malloc(index->slots * sizeof(*index->values));
	if (!index->keys || !index->values) {
		trap_index_free(index);
		return -ENOMEM;
	}
	for (size_t i = 0; i < index->slots; i++)
		index->keys[i] = FREE;
	return 0;
}

int trap_index_reserve(struct trap_index *index, size_t n)
{
	struct trap_index bigger;
	size_t slots = index->slots ? index->slots : MIN_SLOTS;

	while (slots / 2 < n)
		slots *= 2;
	if (slots == index->slots)
		return 0;
	if (index_alloc(&bigger, slots))
		return -ENOMEM;
	for (size_t i = 0; i < index->slots; i++) {
		if (index->keys[i] != FREE)
			trap_index_put(&bigger, index->keys[i], index->values[i]);
	}
	trap_index_free(index);
	*index = bigger;
	return 0;
}

void trap_index_free(struct trap_index *index)
{
	free(index->keys);
	free(index->values);
	*index = (struct trap_index){0};
}

void trap_index_put(struct trap_index *index, uint64_t key, uint32_t value)
{
	size_t slot = find_slot(index, key);

	if (index->keys[slot] == FREE)
		index->used++;
	index->keys[slot] = key;
	index->values[slot] = value;
}

uint32_t trap_index_get(const struct trap_index *index, uint64_t key)
{
	size_t slot;

	if (!index->used || key == FREE)
		return TRAP_INDEX_NONE;
	slot = find_slot(index, key);
	return index->keys[slot] == key ? index->values[slot] : TRAP_INDEX_NONE;
}

/* Does `slot` lie within the cyclic range (from, to]? */
static bool between(size_t from, size_t slot, size_t to)
{
	return from <= to ? from < slot && slot <= to : from < slot || slot <= to;
}

void trap_index_del(struct trap_index *index, uint64_t key)
{
	size_t hole, slot;

	if (trap_index_get(index, key) == TRAP_INDEX_NONE)
		return;
	hole = find_slot(index, key);
	for (slot = next_slot(index, hole); index->keys[slot] != FREE;
	     slot = next_slot(index, slot)) {
		if (between(hole, slot_of(index, index->keys[slot]), slot))
			continue; /* it would not be found from its own slot any more */
		index->keys[hole] = index->keys[slot];
		index->values[hole] = index->values[slot];
		hole = slot;
	}
	index->keys[hole] = FREE;
	index->used--;
}
