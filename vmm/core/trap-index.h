/* SPDX-License-Identifier: GPL-2.0-or-later */
/* trap-index.h - a hash from a non-zero address to a small number. */
#ifndef HVTRACE_VMM_CORE_TRAP_INDEX_H
#define HVTRACE_VMM_CORE_TRAP_INDEX_H

#include <stddef.h>
#include <stdint.h>

#define TRAP_INDEX_NONE UINT32_MAX

struct trap_index {
	uint64_t *keys; /* TRAP_INDEX_FREE: no entry */
	uint32_t *values;
	size_t slots; /* a power of two, or 0 */
	unsigned int shift;
	size_t used;
};

/* Make room for n entries in all. -ENOMEM: nothing has changed. */
int trap_index_reserve(struct trap_index *index, size_t n);
void trap_index_free(struct trap_index *index);
/* Add, or change when the key is there. There must be room. */
void trap_index_put(struct trap_index *index, uint64_t key, uint32_t value);
uint32_t trap_index_get(const struct trap_index *index, uint64_t key);
void trap_index_del(struct trap_index *index, uint64_t key);

#endif
