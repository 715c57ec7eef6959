// SPDX-License-Identifier: GPL-2.0-or-later
/* http-library.c - loads libmicrohttpd. There is one in a process, as of any library. */
#include "frontend/metrics/http-library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

static struct {
	pthread_once_t once;
	bool there;
	struct http_library table;
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
	void *library = dlopen("libmicrohttpd.so.12", RTLD_NOW | RTLD_LOCAL);

	loaded.there = library HTTP_FUNCTIONS(RESOLVE);
}

const char *http_library_missing(void)
{
	pthread_once(&loaded.once, load);
	if (loaded.there)
		return NULL;
	return "metrics are served by libmicrohttpd (0.9.75 or later), which is not here (install "
	       "libmicrohttpd12)";
}

const struct http_library *http_library(void)
{
	return &loaded.table;
}
