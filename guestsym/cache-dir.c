// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * cache-dir.c - the directory of unpacked images: own-dir.c has it led nowhere else by others, and
 * its last two levels, which are the cache's own, are no links.
 */
#include "guestsym/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Relative paths are to be ignored (XDG base directory specification). */
static int cache_base(char *path, size_t len)
{
	const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	int n;

	if (xdg && xdg[0] == '/')
		n = snprintf(path, len, "%s", xdg);
	else if (home && home[0] == '/')
		n = snprintf(path, len, "%s/.cache", home);
	else
		return -ENOENT;
	return n > 0 && (size_t)n < len ? 0 : -ENAMETOOLONG;
}

/* Open a directory of the cache's own below dirfd, which is closed; make it when asked to. */
static int enter(int dirfd, const char *name, bool create)
{
	struct stat st;
	int fd = -1;

	if (dirfd < 0)
		return -1;
	if (!create || mkdirat(dirfd, name, 0700) == 0 || errno == EEXIST)
		fd = openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	close(dirfd);
	if (fd >= 0 && (fstat(fd, &st) || st.st_uid != geteuid())) {
		close(fd);
		return -1;
	}
	return fd;
}

int cache_dir(bool create)
{
	char base[PATH_MAX];
	struct stat st;
	int fd;

	if (cache_base(base, sizeof(base)))
		return -1;
	fd = guestsym_own_dir(base, create);
	fd = enter(fd, "hvtrace", create);
	fd = enter(fd, "images", create);
	/* Nobody else puts anything there. */
	if (fd >= 0 && (fstat(fd, &st) || st.st_mode & 077)) {
		close(fd);
		return -1;
	}
	return fd;
}
