/* SPDX-License-Identifier: GPL-2.0-or-later */
/* memory.h - pieces of memory that go together. */
#ifndef HVTRACE_FRONTEND_CONFIG_TOML_MEMORY_H
#define HVTRACE_FRONTEND_CONFIG_TOML_MEMORY_H

#include <stddef.h>

struct toml_memory_block;

/* Starts out as all zero. */
struct toml_memory {
	struct toml_memory_block *blocks;
};

/* Zeroed, for any object. NULL: there is none. */
void *toml_memory_take(struct toml_memory *m, size_t size);
void toml_memory_free(struct toml_memory *m);

#endif
