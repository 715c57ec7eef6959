// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * broker.c - see broker.h. What follows fork() takes no lock of the C library's: other threads may
 * have held them.
 */
#include "frontend/sandbox/broker.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATIENCE_MS 30000
#define END_MS	    2000 /* that it may need to end, which has nothing to do then */

struct broker {
	pid_t pid;
	int sock;
};

/* --- in the broker -----------------------------------------------------------------------------
 */

/* 0 to 2 too: whoever reads the tracer's output waits for its end. Programs want to have some,
 * though. */
static void close_others(int sock)
{
	int null;

	if (sock > 0)
		close_range(0, (unsigned int)sock - 1, 0);
	close_range((unsigned int)sock + 1, ~0U, 0);
	do
		null = open("/dev/null", O_RDWR);
	while (null >= 0 && null < STDERR_FILENO);
	if (null > STDERR_FILENO)
		close(null);
}

/* 0 or -errno, for who asked. */
static int do_deed(const struct broker_deed *deeds, size_t n, bool *done, uint8_t deed)
{
	if (deed >= n)
		return -EINVAL;
	if (done[deed])
		return -EALREADY;
	done[deed] = true;
	return deeds[deed].run(deeds[deed].arg);
}

static void do_last_deeds(const struct broker_deed *deeds, size_t n, const bool *done)
{
	for (size_t i = 0; i < n; i++)
		if (deeds[i].at_end && !done[i])
			deeds[i].run(deeds[i].arg);
}

_Noreturn static void broker_main(int sock, const struct broker_deed *deeds, size_t n)
{
	bool done[BROKER_DEEDS_MAX] = {false};
	sigset_t all;
	uint8_t deed;
	ssize_t got;

	/* What ends the tracer's process group must not end this one before. */
	setsid();
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	close_others(sock);
	while ((got = recv(sock, &deed, sizeof(deed), 0)) == sizeof(deed) ||
	       (got < 0 && errno == EINTR)) {
		int answer = got < 0 ? 0 : do_deed(deeds, n, done, deed);

		if (got > 0 && send(sock, &answer, sizeof(answer), MSG_NOSIGNAL) < 0)
			break;
	}
	do_last_deeds(deeds, n, done);
	_exit(0);
}

/* --- in the tracer -----------------------------------------------------------------------------
 */

int broker_start(struct broker **broker, const struct broker_deed *deeds, size_t n)
{
	struct broker *b = n > BROKER_DEEDS_MAX ? NULL : malloc(sizeof(*b));
	int ends[2], rc;

	if (!b)
		return n > BROKER_DEEDS_MAX ? -E2BIG : -ENOMEM;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends)) {
		rc = -errno;
		free(b);
		return rc;
	}
	b->pid = fork();
	rc = b->pid < 0 ? -errno : 0;
	if (!b->pid)
		broker_main(ends[1], deeds, n);
	close(ends[1]);
	b->sock = ends[0];
	if (!rc) {
		*broker = b;
		return 0;
	}
	close(b->sock);
	free(b);
	return rc;
}

int broker_ask(struct broker *b, size_t deed)
{
	struct pollfd fd = {b->sock, POLLIN, 0};
	uint8_t request = (uint8_t)deed;
	int answer, ready;

	if (send(b->sock, &request, sizeof(request), MSG_NOSIGNAL) != sizeof(request))
		return -EPIPE;
	do
		ready = poll(&fd, 1, PATIENCE_MS);
	while (ready < 0 && errno == EINTR);
	if (!ready)
		return -ETIMEDOUT;
	return recv(b->sock, &answer, sizeof(answer), MSG_DONTWAIT) == sizeof(answer) ? answer
										      : -EPIPE;
}

/* It closes its end when it ends. One that is stopped, or stuck in a deed, ends some time. */
static bool ends_soon(const struct broker *b)
{
	struct pollfd theirs = {.fd = b->sock};
	int n;

	shutdown(b->sock, SHUT_WR);
	do
		n = poll(&theirs, 1, END_MS);
	while (n < 0 && errno == EINTR);
	return n > 0;
}

void broker_stop(struct broker *b)
{
	bool ended;

	if (!b)
		return;
	ended = ends_soon(b);
	close(b->sock);
	while (ended && waitpid(b->pid, NULL, 0) < 0 && errno == EINTR)
		;
	free(b);
}
