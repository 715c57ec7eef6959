// SPDX-License-Identifier: GPL-2.0-or-later
/* memory.c - see memory.h */
#include "frontend/config/toml/memory.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>

enum { BLOCK = 16 << 10 };

struct toml_memory_block {
	struct toml_memory_block *next;
	size_t used, size;
	alignas(max_align_t) unsigned char bytes[];
};

static struct toml_memory_block *add_block(struct toml_memory *m, size_t size)
{
	struct toml_memory_block *b;

	size = size > BLOCK ? size : BLOCK;
	b = calloc(1, sizeof(*b) + size);
	if (!b)
		return NULL;
	b->size = size;
	b->next = m->blocks;
	m->blocks = b;
	return b;
}

void *toml_memory_take(struct toml_memory *m, size_t size)
{
	const size_t step = alignof(max_align_t);
	struct toml_memory_block *b = m->blocks;
	void *piece;

	if (size > SIZE_MAX / 2)
		return NULL;
	size = (size + step - 1) / step * step;
	if (!b || b->size - b->used < size)
		b = add_block(m, size);
	if (!b)
		return NULL;
	piece = b->bytes + b->used;
	b->used += size;
	return piece;
}

void toml_memory_free(struct toml_memory *m)
{
	while (m->blocks) {
		struct toml_memory_block *b = m->blocks;

		m->blocks = b->next;
		free(b);
	}
}
