// SPDX-License-Identifier: GPL-2.0-or-later
/* http-library.c - loads libmicrohttpd. There is one in a process, as of any library. */
#include "frontend/metrics/http-library.h"
#include "frontend/lib/library.h"

#include <pthread.h>
#include <stdbool.h>

static struct {
	pthread_once_t once;
	bool there;
	struct http_library table;
} loaded = {.once = PTHREAD_ONCE_INIT};

#define RESOLVE(name) &&library_resolve(library, #name, &loaded.table.name)

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
