// SPDX-License-Identifier: GPL-2.0-or-later
/* runtime-dir.c - see runtime-dir.h */
#include "frontend/lib/runtime-dir.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "guestsym/guestsym.h"

/* What others can write to is not believed. Closes fd if so. */
static int keep_if_ours(int fd)
{
	struct stat st;

	if (fd < 0 || (!fstat(fd, &st) && st.st_uid == geteuid() && !(st.st_mode & 022)))
		return fd;
	close(fd);
	return -EPERM;
}

/* Who has become root may still have the variable of who he was. */
static int open_above(const char **path)
{
	int fd = -EPERM;

	*path = getenv("XDG_RUNTIME_DIR");
	if (*path && **path == '/')
		fd = keep_if_ours(guestsym_own_dir(*path, false));
	else if (geteuid())
		return -ENOENT;
	if (geteuid() || fd != -EPERM)
		return fd;
	*path = "/run";
	return keep_if_ours(guestsym_own_dir(*path, false));
}

static int open_below(int dir)
{
	int fd = openat(dir, "hvtrace", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

int runtime_dir_open(bool make, char *path, size_t len)
{
	const char *above;
	int dir = open_above(&above), fd;

	if (path && snprintf(path, len, "%s/hvtrace", above ? above : "") >= (int)len) {
		if (dir >= 0)
			close(dir);
		return -ENAMETOOLONG;
	}
	if (dir < 0)
		return dir;
	if (make && mkdirat(dir, "hvtrace", 0700) && errno != EEXIST)
		fd = -errno;
	else
		fd = open_below(dir);
	close(dir);
	return keep_if_ours(fd);
}
