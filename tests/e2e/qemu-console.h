/* SPDX-License-Identifier: GPL-2.0-or-later */
/* qemu-console.h - talks to the init of a guest of tests/e2e/qemu-lib.sh. For programs of cmocka.
 */
#ifndef HVTRACE_TESTS_QEMU_CONSOLE_H
#define HVTRACE_TESTS_QEMU_CONSOLE_H

#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define CONSOLE_LIMIT_MS 120000 /* for things that must happen; takes nothing when they do */

struct console {
	int fd;
	unsigned int commands;
	char out[65536]; /* of the last command */
	size_t len;
};

/* Read until the text is there or the time is over. */
static inline bool console_expect(struct console *c, const char *text, int ms)
{
	struct pollfd fd = {.fd = c->fd, .events = POLLIN};

	while (!strstr(c->out, text)) {
		ssize_t n;

		if (c->len == sizeof(c->out) - 1)
			c->len = 0; /* someone talks a lot */
		if (poll(&fd, 1, ms) <= 0)
			return false;
		n = read(c->fd, c->out + c->len, sizeof(c->out) - 1 - c->len);
		if (n <= 0)
			return false;
		c->len += (size_t)n;
		c->out[c->len] = '\0';
	}
	return true;
}

static inline void console_send(struct console *c, const char *command)
{
	char line[512], done[32];
	int len = snprintf(line, sizeof(line), "%s; echo done-%u\n", command, ++c->commands);

	snprintf(done, sizeof(done), "\ndone-%u", c->commands);
	strcpy(c->out, "\n"); /* its first line has one before it, like the others */
	c->len = 1;
	assert_int_equal(write(c->fd, line, (size_t)len), len);
}

static inline bool console_done(struct console *c, int ms)
{
	char done[32];

	snprintf(done, sizeof(done), "\ndone-%u", c->commands);
	return console_expect(c, done, ms);
}

static inline void console_run(struct console *c, const char *command)
{
	console_send(c, command);
	if (!console_done(c, CONSOLE_LIMIT_MS))
		fail_msg("the guest does not do '%s': %s", command, c->out);
}

/* A guest that is still booting may lose what it is told. */
static inline void console_wait_up(struct console *c)
{
	c->len = 0;
	c->out[0] = '\0';
	if (!console_expect(c, "init: ready", CONSOLE_LIMIT_MS))
		fail_msg("the guest does not come up: %s", c->out);
	console_run(c, "true");
}

static inline int console_open(const char *path)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s", path);
	if (fd >= 0 && connect(fd, (struct sockaddr *)&addr, sizeof(addr))) {
		perror(path);
		return -1;
	}
	return fd;
}

#endif
