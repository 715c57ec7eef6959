// SPDX-License-Identifier: GPL-2.0-or-later
/* output.c - see output.h */
#include "frontend/lib/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "frontend/lib/cancel.h"
#include "frontend/lib/exit.h"

#define SINK_BUFFER (64 << 10)

/* What a stream of ours writes to. */
struct sink {
	int fd;
	size_t part; /* so much is written at a time: what does not block where that can be told */
	const struct cancel *cancel;
};

/* 0 or -errno. */
static int write_file(const struct text *text, const char *path)
{
	FILE *f = path ? fopen(path, "we") : stdout;
	int rc = 0;

	if (!f)
		return -errno;
	errno = 0;
	if (fwrite(text->buf, 1, text->len, f) != text->len || fflush(f))
		rc = errno ? -errno : -EIO;
	if (path && fclose(f) && !rc)
		rc = -errno;
	return rc;
}

int output_write(struct text *text, const char *path)
{
	int rc;

	signal(SIGPIPE, SIG_IGN);
	rc = text->failed ? -ENOMEM : write_file(text, path);
	text_free(text);
	if (!rc || rc == -EPIPE)
		return EXIT_OK;
	fprintf(stderr, "hvtrace: cannot write %s: %s\n", path ? path : "to standard output",
		strerror(-rc));
	return EXIT_FAILED;
}

/* --- a stream that can be given up -------------------------------------------------------------- */

/* There is room, or an error. */
static int sink_wait(const struct sink *k)
{
	struct pollfd fds[] = {{.fd = k->fd, .events = POLLOUT},
			       {.fd = k->cancel->fd, .events = POLLIN}};

	while (!cancel_asked(k->cancel)) {
		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			return -errno;
		if (fds[0].revents && !fds[1].revents)
			return 0;
	}
	return -ECANCELED;
}

static ssize_t sink_write(void *cookie, const char *buf, size_t len)
{
	const struct sink *k = cookie;
	size_t done = 0;

	while (done < len) {
		size_t part = len - done < k->part ? len - done : k->part;
		int rc = sink_wait(k);
		ssize_t n = rc ? -1 : write(k->fd, buf + done, part);

		if (n >= 0) {
			done += (size_t)n;
		} else if (rc || (errno != EAGAIN && errno != EINTR)) {
			errno = rc ? -rc : errno;
			return 0;
		}
	}
	return (ssize_t)done;
}

static int sink_close(void *cookie)
{
	struct sink *k = cookie;
	int rc = close(k->fd);

	free(k);
	return rc;
}

/*
 * Whether a write blocks belongs to all who have a pipe or terminal open: it is opened once more.
 * What cannot be, a socket, is written to in parts that it has room for when it has any.
 */
static int sink_use(struct sink *k, int fd)
{
	char path[32];
	struct stat st;

	k->part = SINK_BUFFER;
	k->fd = -1;
	if (!fstat(fd, &st) && !S_ISREG(st.st_mode)) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		k->fd = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
		if (k->fd < 0)
			k->part = PIPE_BUF;
	}
	if (k->fd < 0)
		k->fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	return k->fd < 0 ? -errno : 0;
}

static int sink_open(struct sink *k, const char *path)
{
	int fd, rc;

	if (!path)
		return sink_use(k, STDOUT_FILENO);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd < 0)
		return -errno;
	rc = sink_use(k, fd);
	close(fd);
	return rc;
}

FILE *output_open(const char *path, const struct cancel *cancel)
{
	static const cookie_io_functions_t ops = {.write = sink_write, .close = sink_close};
	struct sink *k = calloc(1, sizeof(*k));
	FILE *f;
	int rc;

	if (!k)
		return NULL;
	k->cancel = cancel;
	rc = sink_open(k, path);
	f = rc ? NULL : fopencookie(k, "w", ops);
	if (f) {
		setvbuf(f, NULL, _IOFBF, SINK_BUFFER);
		return f;
	}
	if (!rc)
		close(k->fd);
	free(k);
	errno = rc ? -rc : ENOMEM;
	return NULL;
}
