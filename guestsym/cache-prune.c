// SPDX-License-Identifier: GPL-2.0-or-later
/* cache-prune.c - keeps the cache of unpacked images from growing with every kernel ever built. */
#include "guestsym/internal.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define KEEP_IMAGES 8		   /* about 60 MB each */
#define ABANDONED   (24 * 60 * 60) /* seconds after which nobody still writes a file */

struct image_file {
	char name[CACHE_NAME_LEN]; /* without suffix */
	struct timespec used;
};

/* Is it called as an image or a digest of the cache, by suffix? */
static bool has_suffix(const char *name, const char *suffix, char stem[CACHE_NAME_LEN])
{
	size_t len = strlen(name), suffix_len = strlen(suffix);
	uint64_t hash;

	if (len <= suffix_len || len - suffix_len >= CACHE_NAME_LEN ||
	    strcmp(name + len - suffix_len, suffix) != 0)
		return false;
	memcpy(stem, name, len - suffix_len);
	stem[len - suffix_len] = '\0';
	return !cache_name_to_hash(stem, &hash);
}

static bool is_own_file(int dir, const char *name, struct stat *st)
{
	return !fstatat(dir, name, st, AT_SYMLINK_NOFOLLOW) && S_ISREG(st->st_mode) &&
	       st->st_uid == geteuid();
}

static bool older(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec < b->tv_sec || (a->tv_sec == b->tv_sec && a->tv_nsec < b->tv_nsec);
}

/* The digest that then belongs to nothing is removed as such. */
static void remove_image(int dir, const char *stem)
{
	char file[CACHE_NAME_LEN + 8];

	snprintf(file, sizeof(file), "%s.elf", stem);
	unlinkat(dir, file, 0);
}

/* Keep the images that were used last; of those in kept[], the oldest gives way. */
static void remove_oldest(int dir, DIR *entries)
{
	struct image_file kept[KEEP_IMAGES + 1] = {0};
	const struct dirent *d;
	struct stat st;
	size_t n = 0;

	while ((d = readdir(entries)) != NULL) {
		size_t oldest = 0;

		if (!has_suffix(d->d_name, ".elf", kept[n].name) ||
		    !is_own_file(dir, d->d_name, &st))
			continue;
		kept[n++].used = st.st_mtim;
		if (n <= KEEP_IMAGES)
			continue;
		for (size_t i = 1; i < n; i++)
			if (older(&kept[i].used, &kept[oldest].used))
				oldest = i;
		remove_image(dir, kept[oldest].name);
		kept[oldest] = kept[--n];
	}
}

static bool is_image_there(int dir, const char *stem)
{
	char file[CACHE_NAME_LEN + 8];

	snprintf(file, sizeof(file), "%s.elf", stem);
	return faccessat(dir, file, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Links to images that are gone, digests without an image, what a killed process left. */
static bool is_rubbish(int dir, const char *name, time_t now)
{
	char stem[CACHE_NAME_LEN];
	struct stat st;
	uint64_t hash;
	ssize_t n;

	if (has_suffix(name, ".digest", stem))
		return is_own_file(dir, name, &st) && !is_image_there(dir, stem);
	if (cache_name_is_temporary(name))
		return !fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) && !S_ISDIR(st.st_mode) &&
		       now - st.st_mtime > ABANDONED;
	if (!cache_name_is_source(name))
		return false;
	n = readlinkat(dir, name, stem, sizeof(stem));
	if (n < 0 || (size_t)n >= sizeof(stem))
		return n >= 0;
	stem[n] = '\0';
	return cache_name_to_hash(stem, &hash) || !is_image_there(dir, stem);
}

void cache_prune(int dir)
{
	int fd = dup(dir);
	DIR *entries = fd < 0 ? NULL : fdopendir(fd);
	time_t now = time(NULL);
	const struct dirent *d;

	if (!entries) {
		if (fd >= 0)
			close(fd);
		return;
	}
	remove_oldest(dir, entries);
	rewinddir(entries);
	while ((d = readdir(entries)) != NULL)
		if (is_rubbish(dir, d->d_name, now))
			unlinkat(dir, d->d_name, 0);
	closedir(entries);
}
