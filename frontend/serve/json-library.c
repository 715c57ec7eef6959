// SPDX-License-Identifier: GPL-2.0-or-later
/* json-library.c - loads json-c. There is one in a process, as of any library. */
#include "frontend/serve/json-library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

static struct {
	pthread_once_t once;
	bool there;
	struct jsonc_library table;
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
	void *library = dlopen("libjson-c.so.5", RTLD_NOW | RTLD_LOCAL);

	loaded.there = library JSONC_FUNCTIONS(RESOLVE);
}

const char *jsonc_library_missing(void)
{
	pthread_once(&loaded.once, load);
	return loaded.there
		       ? NULL
		       : "what collectors tell is read by json-c, which is not here (install libjson-c5)";
}

const struct jsonc_library *jsonc_library(void)
{
	return &loaded.table;
}
