// SPDX-License-Identifier: GPL-2.0-or-later
/* port.c - the guest's end of protocol.h, on a serial port. */
#include "frontend/exec/guest/guest.h"

#include <asm/termbits.h>
#include <asm/ioctls.h>

void port_begin(int port)
{
	struct termios t;

	memset(&t, 0, sizeof(t));
	t.c_cflag = B115200 | CS8 | CREAD | CLOCAL;
	t.c_cc[VMIN] = 1;
	sys(__NR_ioctl, port, TCSETS, &t);
	sys(__NR_ioctl, port, TCFLSH, TCIOFLUSH);
	write_all(port, EXEC_HELLO, sizeof(EXEC_HELLO) - 1);
}

/* In one piece: the first process and its child may both have something to say. */
void port_send(int port, char what, const void *bytes, size_t len)
{
	char frame[EXEC_HEAD + PORT_DATA_MAX] = {what, (char)(len & 0xff), (char)(len >> 8)};

	memcpy(frame + EXEC_HEAD, bytes, len);
	write_all(port, frame, EXEC_HEAD + len);
}

static size_t append(char *text, size_t at, size_t size, const char *more)
{
	while (*more && at < size)
		text[at++] = *more++;
	return at;
}

void port_fail(int port, const char *why, const char *what, long error)
{
	char text[256], digits[20];
	size_t len = append(text, 0, sizeof(text), why), n = sizeof(digits);

	len = append(text, len, sizeof(text), what);
	if (error < 0) {
		digits[--n] = '\0';
		for (long e = -error; e && n; e /= 10)
			digits[--n] = (char)('0' + e % 10);
		len = append(text, len, sizeof(text), ": error ");
		len = append(text, len, sizeof(text), digits + n);
	}
	port_send(port, EXEC_FAIL, text, len);
}

long port_receive(int port, char what, void *bytes, size_t size)
{
	unsigned char head[EXEC_HEAD];
	size_t len;

	if (!read_all(port, head, sizeof(head)))
		return -1;
	len = (size_t)head[1] | (size_t)head[2] << 8;
	if (head[0] != (unsigned char)what || len > size || !read_all(port, bytes, len))
		return -1;
	return (long)len;
}
