/* SPDX-License-Identifier: GPL-2.0-or-later */
/* keyed.h - numbers by keys that others choose. */
#ifndef HVTRACE_FRONTEND_JOBS_KEYED_H
#define HVTRACE_FRONTEND_JOBS_KEYED_H

#include "guestsym/guestsym.h"

#define KEYED_NONE UINT32_MAX

struct keyed {
	uint64_t *key;
	uint32_t *value; /* KEYED_NONE: free */
	uint32_t mask;
	struct guestsym_hash_key hash;
};

/* With room for so many, a power of two. False: no memory. */
bool keyed_init(struct keyed *k, uint32_t room);
void keyed_exit(struct keyed *k);
void keyed_clear(struct keyed *k);
/* Where the value of a key is: KEYED_NONE where the caller is to write it, if there is room. */
uint32_t *keyed_place(struct keyed *k, uint64_t key);

#endif
