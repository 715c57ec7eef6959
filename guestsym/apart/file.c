// SPDX-License-Identifier: GPL-2.0-or-later
/* file.c - unnamed files (memfd_create(2)) that carry bytes from one process to the other. */
#include "guestsym/apart/apart.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int apart_write(int fd, const void *data, size_t len, uint64_t off)
{
	const uint8_t *p = data;

	while (len) {
		ssize_t n = pwrite(fd, p, len, (off_t)off);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EIO;
		p += n;
		off += (uint64_t)n;
		len -= (size_t)n;
	}
	return 0;
}

static bool seal(int fd, int writing)
{
	return !fcntl(fd, F_ADD_SEALS, writing | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
}

int apart_file(const char *name, const void *data, size_t len)
{
	int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING), err;

	if (fd < 0)
		return -errno;
	err = apart_write(fd, data, len, 0);
	if (!err)
		return fd;
	close(fd);
	return err;
}

int apart_file_given(const char *name, const void *data, size_t len)
{
	int fd = apart_file(name, data, len), err;

	/* Nobody has mapped it yet. */
	if (fd < 0 || seal(fd, F_SEAL_FUTURE_WRITE))
		return fd;
	err = -errno;
	close(fd);
	return err;
}

static int look_at_size(int fd, size_t max, size_t *len)
{
	struct stat st;

	*len = 0;
	if (fstat(fd, &st))
		return -errno;
	if ((uint64_t)st.st_size > max)
		return -EFBIG;
	*len = (size_t)st.st_size;
	return 0;
}

int apart_file_map(int fd, size_t max, void **data, size_t *len)
{
	int err = look_at_size(fd, max, len);

	*data = NULL;
	if (err || !*len)
		return err;
	/*
	 * Before Linux 6.7 a sealed file cannot be mapped shared, not even to be read. Holes are
	 * not to be filled by looking everywhere.
	 */
	*data = mmap(NULL, *len, PROT_READ, MAP_PRIVATE, fd, 0);
	if (*data != MAP_FAILED)
		return 0;
	*data = NULL;
	*len = 0;
	return -errno;
}

/* Of a file that became shorter meanwhile the rest is zero. */
static int copy(int fd, size_t max, void **data, size_t *len)
{
	int err = look_at_size(fd, max, len);
	uint8_t *to;
	ssize_t n;

	*data = NULL;
	if (err || !*len)
		return err;
	to = mmap(NULL, *len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (to == MAP_FAILED) {
		*len = 0;
		return -ENOMEM;
	}
	for (size_t off = 0; off < *len; off += (size_t)n) {
		n = pread(fd, to + off, *len - off, (off_t)off);
		if (n < 0 && errno == EINTR)
			n = 0;
		else if (n <= 0)
			break;
	}
	*data = to;
	return 0;
}

int apart_file_take(int fd, size_t max, void **data, size_t *len)
{
	/*
	 * It is refused where somebody could write there, and where the host's kernel holds one of
	 * the pages for a reason of its own (memfd_wait_for_pins() of Linux 6.12, mm/memfd.c).
	 */
	return seal(fd, F_SEAL_WRITE) ? apart_file_map(fd, max, data, len)
				      : copy(fd, max, data, len);
}
