// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * map.c - the sums of each key: room for a fixed number of keys, what does not fit is
 * counted as dropped. kernel/trace/tracing_map.c.
 */
#include <errno.h>

#include "tracer/events/hist/internal.h"

#define NO_ENTRY UINT32_MAX

struct hist_map {
	pthread_mutex_t lock;
	uint32_t key_size;
	size_t entry_size, max, nr;
	uint32_t *slot; /* 2 * max of them, so that one is always free */
	uint8_t *memory;
	uint64_t hits, drops;
};

static struct hist_entry *entry_at(void *memory, size_t entry_size, size_t i)
{
	return (struct hist_entry *)((uint8_t *)memory + i * entry_size);
}

static void forget(struct hist_map *map)
{
	memset(map->slot, 0xff, 2 * map->max * sizeof(*map->slot));
	memset(map->memory, 0, map->nr * map->entry_size);
	map->nr = 0;
	map->hits = map->drops = 0;
}

static size_t vars_size(const struct hist_spec *spec)
{
	return spec->nr_slots ? sizeof(struct hist_vars) + spec->nr_strings * EVENT_STRING_MAX : 0;
}

struct hist_vars *hist_entry_vars(const struct hist_spec *spec, struct hist_entry *entry)
{
	return spec->nr_slots ? (struct hist_vars *)(entry->key + spec->key_size) : NULL;
}

struct hist_map *hist_map_new(const struct hist_spec *spec)
{
	struct hist_map *map = calloc(1, sizeof(*map));

	if (!map)
		return NULL;
	map->key_size = spec->key_size;
	map->entry_size = sizeof(struct hist_entry) + spec->key_size + vars_size(spec);
	map->max = (size_t)1 << spec->bits;
	map->slot = calloc(2 * map->max, sizeof(*map->slot));
	map->memory = calloc(map->max, map->entry_size); /* touched only as far as it is used */
	pthread_mutex_init(&map->lock, NULL);
	if (!map->slot || !map->memory) {
		hist_map_free(map);
		return NULL;
	}
	forget(map);
	return map;
}

void hist_map_free(struct hist_map *map)
{
	if (!map)
		return;
	pthread_mutex_destroy(&map->lock);
	free(map->slot);
	free(map->memory);
	free(map);
}

void hist_map_clear(struct hist_map *map)
{
	pthread_mutex_lock(&map->lock);
	forget(map);
	pthread_mutex_unlock(&map->lock);
}

static size_t hash(const uint8_t *key, uint32_t size)
{
	uint64_t h = 0, word;

	for (uint32_t i = 0; i < size; i += sizeof(word)) {
		memcpy(&word, key + i, sizeof(word));
		h = (h ^ word) * 0x9e3779b97f4a7c15;
		h ^= h >> 32;
	}
	return h;
}

/* The key's entry, or NULL and the slot that it would have. */
static struct hist_entry *find(struct hist_map *map, const void *key, size_t *slot)
{
	size_t mask = 2 * map->max - 1, i;

	for (i = hash(key, map->key_size) & mask; map->slot[i] != NO_ENTRY; i = (i + 1) & mask) {
		struct hist_entry *entry = entry_at(map->memory, map->entry_size, map->slot[i]);

		if (!memcmp(entry->key, key, map->key_size))
			return entry;
	}
	*slot = i;
	return NULL;
}

static struct hist_entry *add(struct hist_map *map, const void *key, const char comm[COMM_LEN],
			      size_t slot)
{
	struct hist_entry *entry;

	if (map->nr == map->max)
		return NULL;
	map->slot[slot] = (uint32_t)map->nr;
	entry = entry_at(map->memory, map->entry_size, map->nr++);
	memcpy(entry->comm, comm, sizeof(entry->comm));
	memcpy(entry->key, key, map->key_size);
	return entry;
}

struct hist_entry *hist_map_begin(struct hist_map *map, const void *key, const char comm[COMM_LEN])
{
	struct hist_entry *entry;
	size_t slot;

	pthread_mutex_lock(&map->lock);
	entry = find(map, key, &slot);
	if (!entry)
		entry = add(map, key, comm, slot);
	if (entry) {
		map->hits++;
		return entry;
	}
	map->drops++;
	pthread_mutex_unlock(&map->lock);
	return NULL;
}

struct hist_entry *hist_map_find(struct hist_map *map, const void *key)
{
	struct hist_entry *entry;
	size_t slot;

	pthread_mutex_lock(&map->lock);
	entry = find(map, key, &slot);
	if (!entry)
		pthread_mutex_unlock(&map->lock);
	return entry;
}

void hist_map_end(struct hist_map *map)
{
	pthread_mutex_unlock(&map->lock);
}

int hist_map_view(struct hist_map *map, struct hist_view *view)
{
	int err = 0;

	pthread_mutex_lock(&map->lock);
	*view = (struct hist_view){.nr = map->nr, .hits = map->hits, .drops = map->drops};
	view->memory = malloc(map->nr * map->entry_size + 1);
	view->entry = calloc(map->nr + 1, sizeof(struct hist_entry *));
	if (view->memory && view->entry)
		memcpy(view->memory, map->memory, map->nr * map->entry_size);
	else
		err = -ENOMEM;
	pthread_mutex_unlock(&map->lock);
	if (err) {
		hist_view_free(view);
		return err;
	}
	for (size_t i = 0; i < view->nr; i++)
		view->entry[i] = entry_at(view->memory, map->entry_size, i);
	return 0;
}

void hist_view_free(struct hist_view *view)
{
	free(view->memory);
	free(view->entry);
	*view = (struct hist_view){0};
}
