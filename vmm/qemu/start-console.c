// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * start-console.c - a serial port of a guest of QEMU's that hvtrace has started: a unix socket.
 *
 * QEMU passes each byte on before the guest's instruction ends (unless we are far behind), and what
 * is in a socket stays there when QEMU goes. So once the guest stands, what can be read without
 * waiting is all that it has said.
 */
#include "vmm/qemu/start.h"
#include "vmm/thread.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* A socket holds some 200 KB; who has more to say after that says it of a guest that stands. */
#define DRAIN_MAX (1 << 20)

struct qemu_console {
	int fd;
	pthread_t thread;
	pthread_mutex_t lock; /* from a read to the end of write(): the text stays in order */
	void (*write)(void *arg, const char *text, size_t len);
	void *arg;
};

/* Pass on what is there. Gives what recv(2) gave: 0, the guest's end is closed; -1, see errno. */
static ssize_t pass_on(struct qemu_console *c)
{
	char text[4096];
	ssize_t n;

	pthread_mutex_lock(&c->lock);
	n = recv(c->fd, text, sizeof(text), MSG_DONTWAIT);
	if (n > 0 && c->write)
		c->write(c->arg, text, (size_t)n);
	pthread_mutex_unlock(&c->lock);
	return n;
}

static void *console_thread(void *arg)
{
	struct qemu_console *c = arg;
	struct pollfd fd = {.fd = c->fd, .events = POLLIN};
	ssize_t n;

	do {
		poll(&fd, 1, -1);
		n = pass_on(c);
	} while (n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR)));
	return NULL;
}

void qemu_console_drain(struct qemu_console *c)
{
	size_t passed = 0;
	ssize_t n = 1;

	while (c && n > 0 && passed < DRAIN_MAX) {
		n = pass_on(c);
		passed += n > 0 ? (size_t)n : 0;
	}
}

size_t qemu_console_send(struct qemu_console *c, const char *text, size_t len)
{
	ssize_t n = send(c->fd, text, len, MSG_DONTWAIT | MSG_NOSIGNAL);

	return n < 0 ? 0 : (size_t)n;
}

static int connect_to(const char *path)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	int fd, rc;

	if (strlen(path) >= sizeof(addr.sun_path))
		return -ENAMETOOLONG;
	strcpy(addr.sun_path, path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if (!connect(fd, (struct sockaddr *)&addr, sizeof(addr)))
		return fd;
	rc = -errno;
	close(fd);
	return rc;
}

struct qemu_console *qemu_console_open(const char *path,
				       void (*write)(void *arg, const char *text, size_t len),
				       void *arg, char *err, size_t errlen)
{
	struct qemu_console *c = calloc(1, sizeof(*c));
	int rc = -ENOMEM;

	if (c) {
		c->write = write;
		c->arg = arg;
		pthread_mutex_init(&c->lock, NULL);
		c->fd = connect_to(path);
		rc = c->fd < 0 ? c->fd
			       : thread_start(&c->thread, "console", NULL, console_thread, c);
	}
	if (!rc)
		return c;
	snprintf(err, errlen, "cannot connect to the guest's serial port at %s: %s", path,
		 strerror(-rc));
	if (c && c->fd >= 0)
		close(c->fd);
	free(c);
	return NULL;
}

void qemu_console_close(struct qemu_console *c)
{
	if (!c)
		return;
	shutdown(c->fd, SHUT_RDWR); /* ends the thread */
	pthread_join(c->thread, NULL);
	close(c->fd);
	pthread_mutex_destroy(&c->lock);
	free(c);
}
