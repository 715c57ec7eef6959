// SPDX-License-Identifier: GPL-2.0-or-later
/* ask.c - asks the daemon something at its socket: see serve.h */
#include "frontend/lib/exit.h"
#include "frontend/serve/serve.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#define PATIENCE_S 10
#define OK	   "ok\n"

static int connect_to(const char *path)
{
	const struct timeval patience = {.tv_sec = PATIENCE_S};
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	int fd, rc;

	if (strlen(path) >= sizeof(at.sun_path))
		return -ENAMETOOLONG;
	memcpy(at.sun_path, path, strlen(path) + 1);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	if (!connect(fd, (const struct sockaddr *)&at, sizeof(at)))
		return fd;
	rc = -errno;
	close(fd);
	return rc;
}

static int send_all(int fd, const char *data, size_t len)
{
	while (len) {
		ssize_t n = send(fd, data, len, MSG_NOSIGNAL);

		if (n <= 0)
			return n < 0 ? -errno : -EPIPE;
		data += n;
		len -= (size_t)n;
	}
	return 0;
}

/* The first line says whether it is done; what follows is for the user. */
static int print_answer(int fd)
{
	char buf[4096];
	size_t len = 0, ok = strlen(OK);
	bool good;
	ssize_t n;

	while (len < ok && (n = recv(fd, buf + len, ok - len, 0)) > 0)
		len += (size_t)n;
	good = len == ok && !memcmp(buf, OK, ok);
	if (!good)
		fprintf(stderr, "hvtrace: ");
	if (!good)
		fwrite(buf, 1, len, stderr);
	while ((n = recv(fd, buf, sizeof(buf), 0)) > 0) {
		fwrite(buf, 1, (size_t)n, good ? stdout : stderr);
		len += (size_t)n;
	}
	if (!len || n < 0)
		fprintf(stderr, "hvtrace: hvtrace serve does not answer%s%s\n", n < 0 ? ": " : "",
			n < 0 ? strerror(errno) : "");
	return good && !n ? EXIT_OK : EXIT_FAILED;
}

int serve_ask(const char *socket, const char *request)
{
	int fd = connect_to(socket), rc, status = EXIT_FAILED;

	if (fd < 0) {
		fprintf(stderr, "hvtrace: no hvtrace serve at %s: %s\n", socket, strerror(-fd));
		return EXIT_FAILED;
	}
	rc = send_all(fd, request, strlen(request));
	if (!rc)
		rc = send_all(fd, "\n", 1);
	if (!rc)
		status = print_answer(fd);
	else
		fprintf(stderr, "hvtrace: hvtrace serve does not listen: %s\n", strerror(-rc));
	close(fd);
	return status;
}
