// SPDX-License-Identifier: GPL-2.0-or-later
/* kernel-find.c - which kernel to boot when the user names none. */
#include "frontend/session/kernel-find.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char *kernel_of_host(const char *boot)
{
	const char *newest = NULL;
	char *pattern, *path = NULL;
	glob_t found;
	int none;

	if (asprintf(&pattern, "%s/vmlinuz-*", boot) < 0)
		return NULL;
	none = glob(pattern, GLOB_NOSORT, NULL, &found);
	free(pattern);
	if (none)
		return NULL;
	for (size_t i = 0; i < found.gl_pathc; i++) {
		const char *p = found.gl_pathv[i];

		if (!access(p, R_OK) && (!newest || strverscmp(p, newest) > 0))
			newest = p;
	}
	if (newest)
		path = strdup(newest);
	globfree(&found);
	return path;
}

static char *kernel_fetched(const char *series)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	char *path;
	int len;

	if (cache && *cache)
		len = asprintf(&path, "%s/hvtrace/guests/%s/vmlinuz", cache, series);
	else
		len = asprintf(&path, "%s/.cache/hvtrace/guests/%s/vmlinuz", home ? home : "",
			       series);
	if (len < 0)
		return NULL;
	if (!access(path, R_OK))
		return path;
	free(path);
	return NULL;
}

char *kernel_find_in(const char *boot)
{
	char *path = kernel_of_host(boot);

	if (!path)
		path = kernel_fetched("6.1");
	if (!path)
		path = kernel_fetched("6.12");
	return path;
}

char *kernel_find(void)
{
	return kernel_find_in("/boot");
}
