/* SPDX-License-Identifier: GPL-2.0-or-later */
/* qemu-console.h - talks to the init of a guest of tests/e2e/qemu-lib.sh. For programs of cmocka.
 */
#ifndef HVTRACE_TESTS_QEMU_CONSOLE_H
#define HVTRACE_TESTS_QEMU_CONSOLE_H

#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define CONSOLE_LIMIT_MS 400000 /* for things that must happen; takes nothing when they do */

/* How often a test does something: as usual, or as the environment has it. */
static inline int times_of(const char *name, int usual)
{
	const char *said = getenv(name);

	return said ? (int)strtol(said, NULL, 10) : usual;
}

struct console {
	int fd;
	unsigned int commands;
	char out[65536]; /* of the last command */
	size_t len;
};

/*
 * The test fails, and it is said why. In a setup, too: there cmocka keeps to itself what fail_msg()
 * is given, when it speaks TAP.
 */
#define fail_aloud(...)                                                                            \
	do {                                                                                       \
		fprintf(stderr, "# " __VA_ARGS__);                                                 \
		fputc('\n', stderr);                                                               \
		fail();                                                                            \
	} while (0)

/* What the guest has said is shown, line by line. */
static inline void console_fail(struct console *c, const char *what)
{
	char *rest = c->out;

	fprintf(stderr, "# %s; it has said:\n", what);
	for (char *line = strsep(&rest, "\n"); line; line = strsep(&rest, "\n"))
		fprintf(stderr, "#   %s\n", line);
	fail();
}

static inline void console_forget(struct console *c)
{
	c->len = 0;
	c->out[0] = '\0';
}

/* Whether more came before the time was over. */
static inline bool console_read(struct console *c, int ms)
{
	struct pollfd fd = {.fd = c->fd, .events = POLLIN};
	size_t keep = 1024; /* of someone who talks a lot: what is looked for may have begun */
	ssize_t n;

	if (c->len == sizeof(c->out) - 1) {
		memmove(c->out, c->out + c->len - keep, keep);
		c->len = keep;
	}
	if (poll(&fd, 1, ms) <= 0)
		return false;
	n = read(c->fd, c->out + c->len, sizeof(c->out) - 1 - c->len);
	if (n <= 0)
		return false;
	c->len += (size_t)n;
	c->out[c->len] = '\0';
	return true;
}

/* Read until the text is there, the guest panics, or nothing comes for so long. */
static inline bool console_expect(struct console *c, const char *text, int ms)
{
	while (!strstr(c->out, text)) {
		if (strstr(c->out, "Kernel panic") || !console_read(c, ms))
			return false;
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
	if (!console_done(c, CONSOLE_LIMIT_MS)) {
		fprintf(stderr, "# asked to do '%s'\n", command);
		console_fail(c, "the guest does not answer");
	}
}

/* A guest that is still booting may lose what it is told: it is told as often as it asks. */
static inline void console_wait_up(struct console *c)
{
	static const char hello[] = "hello\n";
	const size_t len = sizeof(hello) - 1;

	console_forget(c);
	for (int asked = 0; !strstr(c->out, "init: listens");) {
		if (strstr(c->out, "init: ready") && asked++ < CONSOLE_LIMIT_MS / 1000) {
			console_forget(c);
			assert_int_equal(write(c->fd, hello, len), len);
		} else if (!console_read(c, CONSOLE_LIMIT_MS)) {
			console_fail(c, "the guest does not come up");
		}
	}
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
