// SPDX-License-Identifier: GPL-2.0-or-later
/* blob.c - large pieces of bytes: mapped files and the memory that images are unpacked to. */
#include "guestsym/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
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
			*b = (struct blob){.data = map,
					   .len = st->st_size,
					   .map = map,
					   .map_len = st->st_size};
	}
	close(fd);
	return err;
}

/*
 * Page faults would take a third of the time of unpacking, so large memory is made for huge pages:
 * Linux aligns a mapping for them only when its length is a multiple of theirs.
 */
int blob_alloc(struct blob *b, size_t len)
{
	size_t map_len = (len + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1);
	void *map;

	*b = (struct blob){0};
	if (len < HUGE_PAGE) {
		map = calloc(1, len ? len : 1);
		map_len = 0;
	} else {
		map = mmap(NULL, map_len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			   0);
		if (map == MAP_FAILED)
			return -errno;
		madvise(map, map_len, MADV_HUGEPAGE);
	}
	if (!map)
		return -ENOMEM;
	*b = (struct blob){.data = map, .len = len, .map = map, .map_len = map_len};
	return 0;
}

void blob_trim(const struct blob *b)
{
	if (b->file)
		madvise(b->map, b->len, MADV_DONTNEED);
}

int blob_replace(struct blob *b, int fd)
{
	struct stat st;
	void *map;

	if (!b->map_len || b->file)
		return -EINVAL;
	if (fstat(fd, &st) < 0)
		return -errno;
	if ((uint64_t)st.st_size != b->len)
		return -EINVAL;
	map = mmap(NULL, b->len, PROT_READ, MAP_PRIVATE, fd, 0);
	if (map == MAP_FAILED)
		return -errno;
	/* All that can go wrong with the file has gone wrong by now. */
	if (mremap(map, b->len, b->len, MREMAP_MAYMOVE | MREMAP_FIXED, b->map) == MAP_FAILED) {
		munmap(map, b->len);
		return -ENOMEM;
	}
	b->file = true;
	return 0;
}

void blob_free(struct blob *b)
{
	if (b->map_len)
		munmap(b->map, b->map_len);
	else
		free(b->map);
	*b = (struct blob){0};
}
