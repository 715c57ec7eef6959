// SPDX-License-Identifier: GPL-2.0-or-later
/* tree-library.c - loads libtree-sitter. There is one in a process, as of any library. */
#include "frontend/config/toml/tree-library.h"
#include "frontend/lib/library.h"

#include <pthread.h>
#include <stdbool.h>

static struct {
	pthread_once_t once;
	bool there;
	struct tree_library table;
} loaded = {.once = PTHREAD_ONCE_INIT};

#define RESOLVE(name) &&library_resolve(library, #name, &loaded.table.name)

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
