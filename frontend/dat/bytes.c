// SPDX-License-Identifier: GPL-2.0-or-later
/* bytes.c - see bytes.h */
#include "frontend/dat/bytes.h"

#include <errno.h>
#include <unistd.h>

int bytes_read(int fd, uint64_t at, void *to, size_t len)
{
	uint8_t *p = to;

	while (len) {
		ssize_t n = pread(fd, p, len, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EIO;
		p += n;
		at += (size_t)n;
		len -= (size_t)n;
	}
	return 0;
}

int bytes_write(int fd, uint64_t at, const void *from, size_t len)
{
	const uint8_t *p = from;

	while (len) {
		ssize_t n = pwrite(fd, p, len, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EIO;
		p += n;
		at += (size_t)n;
		len -= (size_t)n;
	}
	return 0;
}
