// SPDX-License-Identifier: GPL-2.0-or-later
/* snapshot-file.c - see snapshot-file.h */
#include "frontend/session/snapshot-file.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MODE 0600

static char *part_name(const char *path)
{
	char *name;

	return asprintf(&name, "%s.%ld.part", path, (long)getpid()) < 0 ? NULL : name;
}

/* Without a name where the file system has such files: nothing of it outlives us. */
static int open_part(struct snapshot_file *f)
{
	char *copy = strdup(f->path);

	if (!copy)
		return -ENOMEM;
	f->fd = open(dirname(copy), O_TMPFILE | O_RDWR | O_CLOEXEC, MODE);
	free(copy);
	if (f->fd >= 0)
		return 0;
	if (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)
		return -errno;
	f->part = part_name(f->path);
	if (!f->part)
		return -ENOMEM;
	f->fd = open(f->part, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, MODE);
	return f->fd < 0 ? -errno : 0;
}

int snapshot_file_open(struct snapshot_file *f, const char *path)
{
	struct stat st;
	int rc;

	*f = (struct snapshot_file){.fd = -1};
	if (!stat(path, &st) && !S_ISREG(st.st_mode))
		return -EINVAL;
	f->path = strdup(path);
	rc = f->path ? open_part(f) : -ENOMEM;
	if (rc) {
		free(f->part);
		free(f->path);
	}
	return rc;
}

int snapshot_file_put(void *arg, const void *data, size_t len, uint64_t at)
{
	const struct snapshot_file *f = arg;
	const char *from = data;

	while (len) {
		ssize_t n = pwrite(f->fd, from, len, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EIO;
		from += n;
		at += (uint64_t)n;
		len -= (size_t)n;
	}
	return 0;
}

/* linkat(2) does not replace what is there, and rename(2) takes no descriptor. */
static int name_part(struct snapshot_file *f)
{
	char fd[64];

	if (f->part)
		return 0;
	f->part = part_name(f->path);
	if (!f->part)
		return -ENOMEM;
	snprintf(fd, sizeof(fd), "/proc/self/fd/%d", f->fd);
	return linkat(AT_FDCWD, fd, AT_FDCWD, f->part, AT_SYMLINK_FOLLOW) ? -errno : 0;
}

int snapshot_file_close(struct snapshot_file *f, bool whole)
{
	int rc = whole ? name_part(f) : 0;

	if (!rc && whole && rename(f->part, f->path))
		rc = -errno;
	if (f->part && (rc || !whole))
		unlink(f->part);
	close(f->fd);
	free(f->part);
	free(f->path);
	return rc;
}
