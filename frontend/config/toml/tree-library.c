// SPDX-License-Identifier: GPL-2.0-or-later
/* tree-library.c - loads libtree-sitter. There is one in a process, as of any library. */
#include "frontend/config/toml/tree-library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

static struct {
	pthread_once_t once;
	bool there;
	struct tree_library table;
} loaded = {.once = PTHREAD_ONCE_INIT};

/* A pointer to a function may not be cast from one to data (C11 6.3.2.3), but POSIX has it so. */
static bool resolve(void *library, const char *name, void *member)
{
	void *function = dlsym(library, name);

	memcpy(member, &function, sizeof(function));
	return function;
}

#define RESOLVE(name) &&resolve(library, #name, &loaded.table.name)

static void load(void)
{
	void *library = dlopen("libtree-sitter.so.0", RTLD_NOW | RTLD_LOCAL);

	loaded.there = library TREE_FUNCTIONS(RESOLVE);
}

const char *tree_library_missing(void)
{
	pthread_once(&loaded.once, load);
	return loaded.there
		       ? NULL
		       : "a configuration is read by libtree-sitter, which is not here (install libtree-sitter0)";
}

const struct tree_library *tree_library(void)
{
	return &loaded.table;
}
