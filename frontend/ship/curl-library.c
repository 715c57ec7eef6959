// SPDX-License-Identifier: GPL-2.0-or-later
/* curl-library.c - loads libcurl. There is one in a process, as of any library. */
#include "frontend/ship/curl-library.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static struct curl_library table;
static bool loaded;

/* A pointer to a function may not be cast from one to data (C11 6.3.2.3), but POSIX has it so. */
static bool resolve(void *library, const char *name, void *member)
{
	void *function = dlsym(library, name);

	memcpy(member, &function, sizeof(function));
	return function;
}

#define RESOLVE(name) &&resolve(library, #name, &table.name)

/* The same with one library for TLS, or with another. */
static bool load(void)
{
	void *library = dlopen("libcurl.so.4", RTLD_NOW);

	if (!library)
		library = dlopen("libcurl-gnutls.so.4", RTLD_NOW);
	return library CURL_FUNCTIONS(RESOLVE) &&
	       table.curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
}

const char *curl_library_missing(void)
{
	loaded = loaded || load();
	return loaded ? NULL : "ship needs libcurl, which is not here (install libcurl4)";
}

const struct curl_library *curl_library(void)
{
	return &table;
}
