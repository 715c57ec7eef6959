// SPDX-License-Identifier: GPL-2.0-or-later
/* sys.c - see sys.h */
#include "frontend/exec/guest/sys.h"

#include <linux/fcntl.h>

#define EINTR 4

void *memcpy(void *to, const void *from, size_t len)
{
	const char *src = from;
	char *dst = to;

	while (len--)
		*dst++ = *src++;
	return to;
}

void *memset(void *to, int byte, size_t len)
{
	char *dst = to;

	while (len--)
		*dst++ = (char)byte;
	return to;
}

size_t text_len(const char *s)
{
	size_t len = 0;

	while (s[len])
		len++;
	return len;
}

bool text_is(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

static bool begins(const char *text, const char *with)
{
	while (*with)
		if (*text++ != *with++)
			return false;
	return true;
}

bool text_has_word(const char *text, const char *begin)
{
	while (*text) {
		if (begins(text, begin))
			return true;
		while (*text && *text != ' ' && *text != '\n')
			text++;
		while (*text == ' ' || *text == '\n')
			text++;
	}
	return false;
}

bool write_all(int fd, const void *bytes, size_t len)
{
	const char *at = bytes;

	while (len) {
		long n = sys(__NR_write, fd, at, len);

		if (n == -EINTR)
			continue;
		if (n <= 0)
			return false;
		at += n;
		len -= (size_t)n;
	}
	return true;
}

bool read_all(int fd, void *bytes, size_t len)
{
	char *at = bytes;

	while (len) {
		long n = sys(__NR_read, fd, at, len);

		if (n == -EINTR)
			continue;
		if (n <= 0)
			return false;
		at += n;
		len -= (size_t)n;
	}
	return true;
}

const char *read_text(int dir, const char *path, char *buf, size_t size)
{
	long fd = sys(__NR_openat, dir, path, O_RDONLY | O_CLOEXEC), n = 0;
	size_t len = 0;

	while (fd >= 0 && len < size - 1 && (n = sys(__NR_read, fd, buf + len, size - 1 - len)) > 0)
		len += (size_t)n;
	if (fd >= 0)
		sys(__NR_close, fd);
	buf[len] = '\0';
	return buf;
}

void nap_ms(unsigned int ms)
{
	const long time[2] = {ms / 1000, (long)(ms % 1000) * 1000000};

	sys(__NR_nanosleep, time, 0);
}
