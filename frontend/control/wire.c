// SPDX-License-Identifier: GPL-2.0-or-later
/* wire.c - messages over a socket whose other end may say anything, or nothing. */
#include "frontend/control/wire.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>
#include <time.h>

/* How long a message may take once it has begun to come. */
#define MESSAGE_MS 5000

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Until a time of now_ms(); -1: for ever. */
static int wait_for(const struct wire *w, short events, int64_t end)
{
	for (;;) {
		struct pollfd fds[] = {{w->fd, events, 0}, w->until};
		int64_t left = end < 0 ? -1 : end - now_ms();
		int n = poll(fds, 2, end >= 0 && left < 0 ? 0 : (int)left);

		if (n < 0 && errno != EINTR)
			return -errno;
		if (n == 0)
			return -ETIMEDOUT;
		if (n > 0)
			return fds[1].revents ? -ECANCELED : 0;
	}
}

int wire_send(const struct wire *w, const struct wire_message *m)
{
	return wire_send_within(w, m, -1);
}

int wire_send_within(const struct wire *w, const struct wire_message *m, int ms)
{
	int64_t end = ms < 0 ? -1 : now_ms() + ms;
	const char *at = (const char *)m;
	size_t left = offsetof(struct wire_message, data) + m->head.len;

	while (left) {
		ssize_t n = send(w->fd, at, left, MSG_DONTWAIT | MSG_NOSIGNAL);
		int rc = n < 0 ? -errno : 0;

		if (n > 0) {
			at += n;
			left -= (size_t)n;
		}
		if (rc == -EAGAIN)
			rc = wait_for(w, POLLOUT | POLLRDHUP, end);
		if (!rc && n < 0 && wire_is_over(w))
			rc = -ECONNRESET;
		if (rc && rc != -EINTR)
			return rc == -EPIPE ? -ECONNRESET : rc;
	}
	return 0;
}

static int receive_bytes(const struct wire *w, void *to, size_t left, int64_t end)
{
	char *at = to;

	while (left) {
		ssize_t n = recv(w->fd, at, left, MSG_DONTWAIT);
		int rc = n < 0 ? -errno : 0;

		if (n == 0)
			return -ECONNRESET;
		if (n > 0) {
			at += n;
			left -= (size_t)n;
		}
		if (rc == -EAGAIN)
			rc = wait_for(w, POLLIN, end);
		if (rc && rc != -EINTR)
			return rc;
	}
	return 0;
}

int wire_receive(const struct wire *w, struct wire_message *m, int idle_ms)
{
	/* Also when something is there: whoever sends without a pause is to be stopped, too. */
	int rc = wait_for(w, POLLIN, idle_ms < 0 ? -1 : now_ms() + idle_ms);
	int64_t end = now_ms() + MESSAGE_MS;

	if (!rc)
		rc = receive_bytes(w, &m->head, sizeof(m->head), end);
	if (rc)
		return rc;
	if (m->head.version != WIRE_VERSION)
		return -EPROTONOSUPPORT;
	if (m->head.len > sizeof(m->data))
		return -EPROTO;
	return receive_bytes(w, m->data, m->head.len, end);
}

bool wire_is_over(const struct wire *w)
{
	return wait_for(w, POLLRDHUP, 0) != -ETIMEDOUT;
}
