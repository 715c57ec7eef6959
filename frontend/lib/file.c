// SPDX-License-Identifier: GPL-2.0-or-later
/* file.c - a whole file in memory. */
#include "frontend/lib/file.h"

#include "guestsym/guestsym.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Traces and initrds have some megabytes; a larger one is not to fill the memory. */
#define FILE_MAX (UINT64_C(4) << 30)

/* len bytes and no more. */
static int read_whole(int fd, uint8_t *to, size_t len)
{
	uint8_t more;
	ssize_t n;

	for (size_t off = 0; off < len; off += (size_t)n) {
		n = pread(fd, to + off, len - off, (off_t)off);
		if (n < 0 && errno == EINTR)
			n = 0;
		else if (n <= 0)
			return n ? -errno : -ESTALE;
	}
	n = pread(fd, &more, 1, (off_t)len);
	return n > 0 ? -ESTALE : n < 0 ? -errno : 0;
}

static bool is_as_before(int fd, const struct stat *st)
{
	struct stat now;

	return !fstat(fd, &now) && now.st_mtim.tv_sec == st->st_mtim.tv_sec &&
	       now.st_mtim.tv_nsec == st->st_mtim.tv_nsec;
}

static int read_file(struct file_bytes *f, int fd, const struct stat *st, uint64_t max)
{
	void *data;
	int ret;

	if ((uint64_t)st->st_size > max)
		return -EFBIG;
	if (!st->st_size)
		return 0;
	data = mmap(NULL, (size_t)st->st_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		    -1, 0);
	if (data == MAP_FAILED)
		return -errno;
	ret = read_whole(fd, data, (size_t)st->st_size);
	if (!ret && !is_as_before(fd, st))
		ret = -ESTALE;
	if (ret)
		munmap(data, (size_t)st->st_size);
	else
		*f = (struct file_bytes){data, (size_t)st->st_size};
	return ret;
}

int file_read_upto(struct file_bytes *f, const char *path, uint64_t max)
{
	struct stat st;
	int fd = guestsym_open_regular(path, &st), ret;

	*f = (struct file_bytes){NULL, 0};
	if (fd < 0)
		return fd;
	ret = read_file(f, fd, &st, max);
	close(fd);
	return ret;
}

int file_read(struct file_bytes *f, const char *path)
{
	return file_read_upto(f, path, FILE_MAX);
}

void file_free(struct file_bytes *f)
{
	if (f->data)
		munmap((void *)(uintptr_t)f->data, f->len);
	*f = (struct file_bytes){NULL, 0};
}

const char *file_strerror(int err)
{
	switch (err) {
	case -EINVAL:
		return "it is not a regular file";
	case -EFBIG:
		return "it has more than 4096 MB, which is too much to be read at once";
	case -ESTALE:
		return "it changes while it is read; try again once it is written completely";
	default:
		return strerror(-err);
	}
}

bool file_closed_to_others(const char *path, char *dir, size_t size)
{
	struct stat st;

	for (const char *end = path; end; end = *end ? strchr(end + 1, '/') : NULL) {
		size_t len = end == path ? 1 : (size_t)(end - path);

		snprintf(dir, size, "%.*s", (int)len, path);
		if (stat(dir, &st) || !(st.st_mode & S_IXOTH))
			return true;
	}
	snprintf(dir, size, "%s", path);
	return stat(dir, &st) || !(st.st_mode & S_IROTH);
}
