// SPDX-License-Identifier: GPL-2.0-or-later
/* curl-library.c - loads libcurl. There is one in a process, as of any library. */
#include "frontend/ship/curl-library.h"
#include "frontend/lib/library.h"

#include <stdbool.h>

static struct curl_library table;
static bool loaded;

#define RESOLVE(name) &&library_resolve(library, #name, &table.name)

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
