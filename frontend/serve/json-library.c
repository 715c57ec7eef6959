// SPDX-License-Identifier: GPL-2.0-or-later
/* json-library.c - loads json-c. There is one in a process, as of any library. */
#include "frontend/serve/json-library.h"
#include "frontend/lib/library.h"

#include <pthread.h>
#include <stdbool.h>

static struct {
	pthread_once_t once;
	bool there;
	struct jsonc_library table;
} loaded = {.once = PTHREAD_ONCE_INIT};

#define RESOLVE(name) &&library_resolve(library, #name, &loaded.table.name)

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
