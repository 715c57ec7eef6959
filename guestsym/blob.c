// SPDX-License-Identifier: GPL-2.0-or-later
/* blob.c - large pieces of bytes: the memory that files are read to and images unpacked to. */
#include "guestsym/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define HUGE_PAGE (UINT64_C(2) << 20)

/* len bytes and no more. */
static int read_whole(int fd, uint8_t *to, size_t len)
{
	uint8_t more;
	ssize_t n;

	for (size_t off = 0; off < len; off += n) {
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

	return !fstat(fd, &now) && now.st_size == st->st_size &&
	       now.st_mtim.tv_sec == st->st_mtim.tv_sec &&
	       now.st_mtim.tv_nsec == st->st_mtim.tv_nsec;
}

int blob_fill(const struct blob *b, int fd)
{
	return read_whole(fd, b->map, b->len);
}

int blob_read(struct blob *b, int fd, const struct stat *st)
{
	int err;

	*b = (struct blob){0};
	if ((uint64_t)st->st_size > IMAGE_MAX_FILE)
		return -EFBIG;
	err = blob_alloc(b, (size_t)st->st_size);
	if (err)
		return err;
	err = blob_fill(b, fd);
	if (!err && !is_as_before(fd, st))
		err = -ESTALE;
	if (err)
		blob_free(b);
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

void blob_forget(struct blob *b, size_t off, size_t len)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t start = (off + page - 1) & ~(page - 1), end = (off + len) & ~(page - 1);

	if (b->map_len && start < end)
		madvise((uint8_t *)b->map + start, end - start, MADV_DONTNEED);
}

void blob_free(struct blob *b)
{
	if (b->map_len)
		munmap(b->map, b->map_len);
	else
		free(b->map);
	*b = (struct blob){0};
}
