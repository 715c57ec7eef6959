/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * terminal.h - a device that any user has, and that tells whether it was opened: the other end of a
 * terminal hangs up once that happened, and it is closed.
 */
#ifndef HVTRACE_TESTS_TERMINAL_H
#define HVTRACE_TESTS_TERMINAL_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

struct terminal {
	int master;
	char path[64];
};

static inline void terminal_open(struct terminal *t)
{
	t->master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	assert_true(t->master >= 0);
	assert_int_equal(unlockpt(t->master), 0);
	assert_int_equal(ptsname_r(t->master, t->path, sizeof(t->path)), 0);
}

static inline bool terminal_was_opened(const struct terminal *t)
{
	struct pollfd fd = {.fd = t->master};

	return poll(&fd, 1, 0) > 0 && (fd.revents & POLLHUP);
}

static inline void terminal_close(const struct terminal *t)
{
	close(t->master);
}

#endif
