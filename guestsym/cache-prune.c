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

static bool has_suffix(const char *name, const char *suffix, size_t *stem)
{
	size_t len = strlen(name), suffix_len = strlen(suffix);

	if (len <= suffix_len || len >= CACHE_NAME_LEN || strcmp(name + len - suffix_len, suffix))
		return false;
	*stem = len - suffix_len;
	return true;
}

static bool older(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec < b->tv_sec || (a->tv_sec == b->tv_sec && a->tv_nsec < b->tv_nsec);
}

static void remove_image(int dir, const char *stem)
{
	char file[CACHE_NAME_LEN + 8];

	snprintf(file, sizeof(file), "%s.elf", stem);
	unlinkat(dir, file, 0);
	snprintf(file, sizeof(file), "%s.digest", stem);
	unlinkat(dir, file, 0);
}

/* Keep the images that were used last; of those in kept[], the oldest gives way. */
static void remove_oldest(int dir, DIR *entries)
{
	struct image_file kept[KEEP_IMAGES + 1] = {0};
	const struct dirent *d;
	struct stat st;
	size_t n = 0, stem;

	while ((d = readdir(entries)) != NULL) {
		size_t oldest = 0;

		if (!has_suffix(d->d_name, ".elf", &stem) ||
		    fstatat(dir, d->d_name, &st, AT_SYMLINK_NOFOLLOW))
			continue;
		snprintf(kept[n].name, sizeof(kept[n].name), "%.*s", (int)stem, d->d_name);
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

/* Links to images that are gone, digests without an image, what a killed process left. */
static bool is_rubbish(int dir, const char *name, time_t now)
{
	char file[CACHE_NAME_LEN + 8];
	struct stat st;
	size_t stem;
	ssize_t n;

	if (name[0] == '.' || fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW))
		return false;
	if (!strncmp(name, "tmp-", 4))
		return now - st.st_mtime > ABANDONED;
	if (has_suffix(name, ".digest", &stem)) {
		snprintf(file, sizeof(file), "%.*s.elf", (int)stem, name);
		return faccessat(dir, file, F_OK, 0) != 0;
	}
	n = readlinkat(dir, name, file, CACHE_NAME_LEN);
	if (n < 0 || n >= CACHE_NAME_LEN)
		return false;
	snprintf(file + n, sizeof(file) - n, ".elf");
	return faccessat(dir, file, F_OK, 0) != 0;
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
