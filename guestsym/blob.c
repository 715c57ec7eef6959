// SPDX-License-Identifier: GPL-2.0-or-later
/* blob.c - large pieces of bytes: mapped files and the memory that images are unpacked to. */
#include "guestsym/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define HUGE_PAGE (UINT64_C(2) << 20)

int blob_map(struct blob *b, const char *path, struct stat *st)
{
	void *map;
	int fd, err = 0;

	*b = (struct blob){0};
	/* O_NONBLOCK: do not hang on a FIFO that somebody names as a kernel. */
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return -errno;
	if (fstat(fd, st) < 0) {
		err = -errno;
	} else if (!S_ISREG(st->st_mode)) {
		err = S_ISDIR(st->st_mode) ? -EISDIR : -EINVAL;
	} else if (st->st_size > 0) {
		map = mmap(NULL, st->st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (map == MAP_FAILED)
			err = -errno;
		else
			*b = (struct blob){.data = map, .len = st->st_size, .map = map};
	}
	close(fd);
	return err;
}

int blob_alloc(struct blob *b, size_t len)
{
	void *map;

	*b = (struct blob){0};
	map = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (map == MAP_FAILED)
		return -errno;
	/* A third of the time of unpacking goes into page faults otherwise. */
	if (len >= HUGE_PAGE)
		madvise(map, len, MADV_HUGEPAGE);
	*b = (struct blob){.data = map, .len = len, .map = map};
	return 0;
}

void blob_free(struct blob *b)
{
	if (b->map)
		munmap(b->map, b->len);
	*b = (struct blob){0};
}
