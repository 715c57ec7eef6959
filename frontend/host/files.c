// SPDX-License-Identifier: GPL-2.0-or-later
/* files.c - see files.h */
#include "frontend/host/files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define PART 65536

int files_write(int folder, const char *name, const char *text)
{
	int fd = openat(folder, name, O_WRONLY | O_CLOEXEC | O_TRUNC), rc = 0;
	size_t len = strlen(text);

	if (fd < 0)
		return -errno;
	if (write(fd, text, len) != (ssize_t)len)
		rc = errno ? -errno : -EIO;
	close(fd);
	return rc;
}

int files_read_fd(int fd, struct text *text)
{
	off_t at = 0;
	ssize_t n;

	do {
		char *room = at < FILES_MAX ? text_begin(text, PART) : NULL;

		if (!room)
			return at < FILES_MAX ? -ENOMEM : -EFBIG;
		n = pread(fd, room, PART, at);
		if (n < 0)
			return -errno;
		text_end(text, room + n);
		at += n;
	} while (n);
	return 0;
}

int files_read(int folder, const char *name, struct text *text)
{
	int fd = openat(folder, name, O_RDONLY | O_CLOEXEC), rc;

	if (fd < 0)
		return -errno;
	rc = files_read_fd(fd, text);
	close(fd);
	return rc;
}

int files_each(int folder, const char *name, int (*see)(void *arg, const char *name), void *arg)
{
	int fd = openat(folder, name, FILES_DIRECTORY), rc = 0;
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *e;

	if (!dir) {
		rc = -errno;
		if (fd >= 0)
			close(fd);
		return rc;
	}
	while (!rc && (e = readdir(dir)))
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			rc = see(arg, e->d_name);
	closedir(dir);
	return rc;
}
