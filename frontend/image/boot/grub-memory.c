// SPDX-License-Identifier: GPL-2.0-or-later
/* grub-memory.c - memory that is given back at once; see grub.h. */
#include "frontend/image/boot/grub.h"

#include <stdlib.h>
#include <string.h>

#define CHUNK 65536u

struct grub_chunk {
	struct grub_chunk *next;
	_Alignas(16) char bytes[];
};

static bool add_chunk(struct grub_memory *m, size_t size)
{
	struct grub_chunk *c;

	if (size > GRUB_MEMORY_MAX - m->total)
		return false;
	c = calloc(1, sizeof(*c) + size);
	if (!c)
		return false;
	c->next = m->chunks;
	m->chunks = c;
	m->left = size;
	m->total += size;
	return true;
}

/* From the end of the chunk to its beginning. */
void *grub_alloc(struct grub_memory *m, size_t size)
{
	if (size > GRUB_MEMORY_MAX)
		return NULL;
	size = (size + 15) & ~(size_t)15;
	if (size > m->left && !add_chunk(m, size > CHUNK ? size : CHUNK))
		return NULL;
	m->left -= size;
	return m->chunks->bytes + m->left;
}

char *grub_string(struct grub_memory *m, const char *text, size_t len)
{
	char *to = grub_alloc(m, len + 1);

	if (to && len)
		memcpy(to, text, len);
	return to;
}

void grub_free(struct grub_memory *m)
{
	while (m->chunks) {
		struct grub_chunk *c = m->chunks;

		m->chunks = c->next;
		free(c);
	}
	*m = (struct grub_memory){NULL, 0, 0};
}
