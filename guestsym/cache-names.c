// SPDX-License-Identifier: GPL-2.0-or-later
/* cache-names.c - how the files in the cache of unpacked images are called. */
#include "guestsym/internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define HEX_DIGITS     "0123456789abcdef"
#define DECIMAL_DIGITS "0123456789"

/* What tells a file from others, in digits; then the hash. */
void cache_image_name(char name[CACHE_NAME_LEN], const struct stat *st, uint64_t hash)
{
	snprintf(name, CACHE_NAME_LEN, "%016jx%016jx%016jx%016jx%08lx%016jx%08lx-%016" PRIx64,
		 (uintmax_t)st->st_dev, (uintmax_t)st->st_ino, (uintmax_t)st->st_size,
		 (uintmax_t)st->st_mtim.tv_sec, st->st_mtim.tv_nsec, (uintmax_t)st->st_ctim.tv_sec,
		 st->st_ctim.tv_nsec, hash);
}

/* With the time of the last change of any kind: cp -p leaves the other one as it was. */
void cache_source_name(char name[CACHE_NAME_LEN], const struct stat *st)
{
	snprintf(name, CACHE_NAME_LEN, "%jx-%jx-%jx-%jx.%09ld-%jx.%09ld", (uintmax_t)st->st_dev,
		 (uintmax_t)st->st_ino, (uintmax_t)st->st_size, (uintmax_t)st->st_mtim.tv_sec,
		 st->st_mtim.tv_nsec, (uintmax_t)st->st_ctim.tv_sec, st->st_ctim.tv_nsec);
}

void cache_temporary_name(char name[CACHE_NAME_LEN])
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	snprintf(name, CACHE_NAME_LEN, "tmp-%d-%jx.%09ld", getpid(), (uintmax_t)now.tv_sec,
		 now.tv_nsec);
}

int cache_name_to_hash(const char *name, uint64_t *hash)
{
	size_t id = strspn(name, HEX_DIGITS);

	if (!id || name[id] != '-' || strspn(name + id + 1, HEX_DIGITS) != 16 || name[id + 17])
		return -EINVAL;
	*hash = strtoull(name + id + 1, NULL, 16);
	return 0;
}

/*
 * Is it of this form? 'x' stands for one hexadecimal digit or more, 'd' for decimal ones, all else
 * for itself.
 */
static bool has_form(const char *name, const char *form)
{
	for (; *form; form++) {
		size_t len = *name == *form;

		if (*form == 'x')
			len = strspn(name, HEX_DIGITS);
		else if (*form == 'd')
			len = strspn(name, DECIMAL_DIGITS);
		if (!len)
			return false;
		name += len;
	}
	return !*name;
}

bool cache_name_is_source(const char *name)
{
	return has_form(name, "x-x-x-x.d-x.d");
}

bool cache_name_is_temporary(const char *name)
{
	return !strncmp(name, "tmp-", 4) && has_form(name + 4, "d-x.d");
}
