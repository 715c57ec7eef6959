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

/* Fails while it is mapped by somebody who could write there. */
static bool seal(int fd)
{
	return !fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
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

	if (fd < 0 || seal(fd))
		return fd;
	err = -errno;
	close(fd);
	return err;
}

int apart_file_map(int fd, size_t max, void **data, size_t *len)
{
	struct stat st;

	*data = NULL;
	*len = 0;
	if (fstat(fd, &st))
		return -errno;
	if ((uint64_t)st.st_size > max)
		return -EFBIG;
	if (!st.st_size)
		return 0;
	/*
	 * Before Linux 6.7 a sealed file cannot be mapped shared, not even to be read. Holes are
	 * not to be filled by looking everywhere.
	 */
	*data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (*data == MAP_FAILED) {
		*data = NULL;
		return -errno;
	}
	*len = (size_t)st.st_size;
	return 0;
}

int apart_file_take(int fd, size_t max, void **data, size_t *len)
{
	*data = NULL;
	*len = 0;
	return seal(fd) ? apart_file_map(fd, max, data, len) : -EPROTO;
}
