/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * addr-index.h - where in an array of another's is the entry of an address. Who chooses the
 * addresses cannot choose how long it takes to find them.
 */
#ifndef HVTRACE_TRACER_LIB_ADDR_INDEX_H
#define HVTRACE_TRACER_LIB_ADDR_INDEX_H

#include <stddef.h>
#include <stdint.h>

#include "guestsym/guestsym.h"

#define ADDR_INDEX_NONE UINT32_MAX

/* The address of entry i. */
typedef uint64_t addr_index_fn(const void *arg, uint32_t i);

struct addr_index {
	/* An entry's number at its hash or behind it; at least half of them are ADDR_INDEX_NONE. */
	uint32_t *slot;
	uint32_t mask;
	struct guestsym_hash_key key;
	addr_index_fn *addr;
	const void *arg;
};

/* With room for n entries, less than 2^30. 0 or -ENOMEM; addr_index_exit() frees it. */
int addr_index_init(struct addr_index *x, size_t n, addr_index_fn *addr, const void *arg);
void addr_index_exit(struct addr_index *x); /* a zeroed one is allowed */
/*
 * Where the number of the address' entry is, or ADDR_INDEX_NONE where the caller is to write it.
 * NULL: it is not there, and too many are where it would be.
 */
uint32_t *addr_index_place(const struct addr_index *x, uint64_t addr);

#endif
