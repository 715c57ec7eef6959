// SPDX-License-Identifier: GPL-2.0-or-later
/* bytes.c - see bytes.h */
#include "frontend/dat/bytes.h"

#include <errno.h>
#include <unistd.h>

#include "tracer/tracer.h"

void bytes_add32(struct text *t, uint32_t value)
{
	uint8_t at[4];

	bytes_put32(at, value);
	text_add(t, at, sizeof(at));
}

void bytes_add64(struct text *t, uint64_t value)
{
	uint8_t at[8];

	bytes_put64(at, value);
	text_add(t, at, sizeof(at));
}

void bytes_set32(struct text *t, size_t at, uint32_t value)
{
	if (!t->failed)
		bytes_put32((uint8_t *)t->buf + at, value);
}

void bytes_set_len64(struct text *t, size_t at)
{
	if (!t->failed)
		bytes_put64((uint8_t *)t->buf + at, t->len - at - 8);
}

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
