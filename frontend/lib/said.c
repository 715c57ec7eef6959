// SPDX-License-Identifier: GPL-2.0-or-later
/* said.c - see said.h */
#include "frontend/lib/said.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#define PREFIX "hvtrace: "

/* A pipe that was full is empty by then. */
#define REST_READS 256

void said_begin(struct said *s, int fd, void (*line_is)(void *arg, const char *line, size_t len),
		void *arg)
{
	*s = (struct said){.fd = fd, .line_is = line_is, .arg = arg};
	fcntl(fd, F_SETFL, O_NONBLOCK);
}

static void pass_on(const struct said *s, const char *line, size_t len)
{
	size_t own = len >= strlen(PREFIX) && !strncmp(line, PREFIX, strlen(PREFIX))
			     ? strlen(PREFIX)
			     : 0;

	s->line_is(s->arg, line + own, len - own);
}

static void pass_lines(struct said *s, bool all)
{
	size_t at = 0;
	const char *end;

	while ((end = memchr(s->line + at, '\n', s->len - at))) {
		pass_on(s, s->line + at, (size_t)(end - s->line) - at);
		at = (size_t)(end - s->line) + 1;
	}
	if (at < s->len && (all || (!at && s->len == sizeof(s->line)))) {
		pass_on(s, s->line + at, s->len - at);
		at = s->len;
	}
	memmove(s->line, s->line + at, s->len - at);
	s->len -= at;
}

void said_hear(struct said *s)
{
	ssize_t n = read(s->fd, s->line + s->len, sizeof(s->line) - s->len);

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n > 0)
		s->len += (size_t)n;
	pass_lines(s, n <= 0);
	if (n > 0)
		return;
	close(s->fd);
	s->fd = -1;
}

void said_end(struct said *s)
{
	for (unsigned int i = 0; i < REST_READS && s->fd >= 0; i++) {
		struct pollfd more = {.fd = s->fd, .events = POLLIN};

		if (poll(&more, 1, 0) <= 0)
			break;
		said_hear(s);
	}
	pass_lines(s, true);
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
}
