// SPDX-License-Identifier: GPL-2.0-or-later
/* requests.c - see requests.h. Nobody who connects is waited for. */
#include "frontend/serve/requests.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define LINE_LEN 1024

struct peer {
	int fd; /* -1: none */
	int64_t until_ms;
	size_t len, sent;
	char line[LINE_LEN];
	struct text answer;
	bool asked;
};

struct requests {
	int fd;
	char *path;
	void (*answer)(void *arg, const char *line, struct text *to);
	void *arg;
	struct peer peer[REQUESTS_PEERS];
};

static void drop(struct peer *p)
{
	close(p->fd);
	text_free(&p->answer);
	*p = (struct peer){.fd = -1};
}

static bool is_ours(int fd)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);

	return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) &&
	       (peer.uid == geteuid() || !peer.uid);
}

static void take_peer(struct requests *r, int64_t now_ms)
{
	int fd = accept4(r->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd < 0)
		return;
	for (size_t i = 0; i < REQUESTS_PEERS && is_ours(fd); i++) {
		if (r->peer[i].fd >= 0)
			continue;
		r->peer[i] = (struct peer){.fd = fd, .until_ms = now_ms + REQUESTS_MS};
		return;
	}
	close(fd);
}

static void hear(struct requests *r, struct peer *p)
{
	ssize_t n = recv(p->fd, p->line + p->len, sizeof(p->line) - 1 - p->len, 0);
	char *end;

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	p->len += n > 0 ? (size_t)n : 0;
	p->line[p->len] = '\0';
	end = strchr(p->line, '\n');
	if (!end && (n <= 0 || p->len == sizeof(p->line) - 1)) {
		drop(p);
		return;
	}
	if (!end)
		return;
	*end = '\0';
	r->answer(r->arg, p->line, &p->answer);
	p->asked = true;
}

static void say(struct peer *p)
{
	ssize_t n;

	while (!p->answer.failed && p->sent < p->answer.len) {
		n = send(p->fd, p->answer.buf + p->sent, p->answer.len - p->sent, MSG_NOSIGNAL);
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		if (n <= 0)
			break;
		p->sent += (size_t)n;
	}
	drop(p);
}

void requests_tick(struct requests *r, int64_t now_ms)
{
	take_peer(r, now_ms);
	for (size_t i = 0; i < REQUESTS_PEERS; i++) {
		struct peer *p = &r->peer[i];

		if (p->fd >= 0 && !p->asked)
			hear(r, p);
		if (p->fd >= 0 && p->asked)
			say(p);
		if (p->fd >= 0 && now_ms >= p->until_ms)
			drop(p);
	}
}

size_t requests_poll(const struct requests *r, struct pollfd *fds)
{
	size_t n = 0;

	fds[n++] = (struct pollfd){.fd = r->fd, .events = POLLIN};
	for (size_t i = 0; i < REQUESTS_PEERS; i++)
		if (r->peer[i].fd >= 0)
			fds[n++] = (struct pollfd){.fd = r->peer[i].fd,
						   .events = r->peer[i].asked ? POLLOUT : POLLIN};
	return n;
}

/* --- its socket ---------------------------------------------------------------------------------
 */

/* One whose daemon is gone refuses: then its name is free. */
static int is_in_use(const struct sockaddr_un *at)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int used = fd >= 0 && !connect(fd, (const struct sockaddr *)at, sizeof(*at));

	if (fd >= 0)
		close(fd);
	return used;
}

static int listen_at(const char *path)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	struct stat st;
	mode_t mask;
	int fd, rc;

	if (strlen(path) >= sizeof(at.sun_path))
		return -ENAMETOOLONG;
	memcpy(at.sun_path, path, strlen(path) + 1);
	if (is_in_use(&at))
		return -EADDRINUSE;
	if (!lstat(path, &st) && !S_ISSOCK(st.st_mode))
		return -ENOTSOCK;
	unlink(path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	mask = umask(0177);
	rc = bind(fd, (const struct sockaddr *)&at, sizeof(at)) || listen(fd, REQUESTS_PEERS)
		     ? -errno
		     : 0;
	umask(mask);
	if (!rc)
		return fd;
	close(fd);
	return rc;
}

struct requests *requests_new(const char *path,
			      void (*answer)(void *arg, const char *line, struct text *to),
			      void *arg, char *err, size_t errlen)
{
	struct requests *r = calloc(1, sizeof(*r));
	int fd = r ? listen_at(path) : -ENOMEM;

	if (fd == -EADDRINUSE)
		snprintf(err, errlen,
			 "%s: another hvtrace serve runs here (hvtrace serve --status)", path);
	else if (fd < 0)
		snprintf(err, errlen, "cannot listen at %s: %s", path, strerror(-fd));
	if (fd < 0) {
		free(r);
		return NULL;
	}
	*r = (struct requests){.fd = fd, .path = strdup(path), .answer = answer, .arg = arg};
	for (size_t i = 0; i < REQUESTS_PEERS; i++)
		r->peer[i].fd = -1;
	return r;
}

void requests_free(struct requests *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < REQUESTS_PEERS; i++)
		if (r->peer[i].fd >= 0)
			drop(&r->peer[i]);
	close(r->fd);
	if (r->path)
		unlink(r->path);
	free(r->path);
	free(r);
}
