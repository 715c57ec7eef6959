// SPDX-License-Identifier: GPL-2.0-or-later
/* regular.c - opens files that others name, which may be no files. */
#include "guestsym/guestsym.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* 0, or -errno: it is not to be opened. */
static int look_at(int fd, struct stat *st)
{
	if (fstat(fd, st))
		return -errno;
	if (S_ISREG(st->st_mode))
		return 0;
	return S_ISDIR(st->st_mode) ? -EISDIR : -EINVAL;
}

/* The file that fd only refers to, whatever its path leads to by now. */
static int open_again(int fd)
{
	char path[sizeof("/proc/self/fd/") + 11];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	/* O_NONBLOCK: do not wait for somebody who has a lease. */
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	return fd < 0 ? -errno : fd;
}

int guestsym_open_regular(const char *path, struct stat *st)
{
	int at = open(path, O_PATH | O_CLOEXEC), ret;

	if (at < 0)
		return -errno;
	ret = look_at(at, st);
	if (!ret)
		ret = open_again(at);
	close(at);
	return ret;
}
