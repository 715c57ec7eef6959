// SPDX-License-Identifier: GPL-2.0-or-later
/* apart.c - hvtrace's side of the process that works on hostile bytes. */
#include "guestsym/apart/local.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define END_MS 2000 /* that a server may need to end, which has nothing to do then */

struct apart {
	pthread_mutex_t lock; /* one job at a time */
	pid_t pid;
	int sock, cancel;
	const struct apart_limits *limits;
	bool gone; /* nothing can be had of it any more */
};

int apart_start(struct apart **a, const struct apart_job *jobs, size_t n,
		const struct apart_limits *limits, int cancel)
{
	struct apart *new = calloc(1, sizeof(*new));
	int ends[2], err = new ? 0 : -ENOMEM;

	*a = NULL;
	if (!err && socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		err = -errno;
	if (err) {
		free(new);
		return err;
	}
	new->pid = fork();
	if (!new->pid)
		serve(ends[1], jobs, n, limits);
	err = new->pid < 0 ? -errno : 0;
	close(ends[1]);
	new->sock = ends[0];
	new->cancel = cancel;
	new->limits = limits;
	pthread_mutex_init(&new->lock, NULL);
	if (!err) {
		*a = new;
		return 0;
	}
	close(new->sock);
	free(new);
	return err;
}

/*
 * It closes its end when it ends. One that somebody has stopped does not, and is not to hold us: it
 * is killed with its parent.
 */
static bool ends_soon(const struct apart *a)
{
	struct pollfd theirs = {.fd = a->sock};
	int n;

	shutdown(a->sock, SHUT_WR);
	do
		n = poll(&theirs, 1, END_MS);
	while (n < 0 && errno == EINTR);
	return n > 0;
}

void apart_stop(struct apart *a)
{
	bool ended;

	if (!a)
		return;
	ended = ends_soon(a);
	close(a->sock);
	while (ended && waitpid(a->pid, NULL, 0) < 0 && errno == EINTR)
		;
	pthread_mutex_destroy(&a->lock);
	free(a);
}

static bool send_request(const struct apart *a, size_t job, const int fds[APART_FDS])
{
	struct request r = {.job = (uint32_t)job};
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(APART_FDS * sizeof(int))];
	} control = {0};
	struct iovec iov = {&r, sizeof(r)};
	struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};
	int with[APART_FDS];
	size_t n = 0;

	for (size_t i = 0; i < APART_FDS; i++) {
		if (fds[i] < 0)
			continue;
		r.has |= 1U << i;
		with[n++] = fds[i];
	}
	if (n) {
		control.align = (struct cmsghdr){.cmsg_len = CMSG_LEN(n * sizeof(int)),
						 .cmsg_level = SOL_SOCKET,
						 .cmsg_type = SCM_RIGHTS};
		memcpy(CMSG_DATA(&control.align), with, n * sizeof(int));
		msg.msg_control = control.bytes;
		msg.msg_controllen = CMSG_SPACE(n * sizeof(int));
	}
	return sendmsg(a->sock, &msg, MSG_NOSIGNAL) == sizeof(r);
}

static void ask_to_cancel(const struct apart *a)
{
	const struct request r = {.job = CANCEL};

	/* If it is gone, there is no answer either. */
	(void)!send(a->sock, &r, sizeof(r), MSG_NOSIGNAL);
}

#define SERVER_MS 10000 /* that it may need beyond what it gives to the job */

/* The server looks at the job's time; one that does not answer itself is given up. */
static bool await_answer(const struct apart *a, struct answer *answer)
{
	struct pollfd fds[] = {{.fd = a->sock, .events = POLLIN},
			       {.fd = a->cancel, .events = POLLIN}};
	int patience_ms = (int)a->limits->wall_s * 1000 + SERVER_MS;

	for (;;) {
		int n = poll(fds, 2, patience_ms);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		if (fds[0].revents)
			return recv(a->sock, answer, sizeof(*answer), 0) == sizeof(*answer);
		ask_to_cancel(a);
		fds[1].fd = -1;
		patience_ms = SERVER_MS;
	}
}

/* Text comes from who may have been taken over. */
static void take_text(const struct answer *answer, char why[APART_TEXT])
{
	size_t i;

	for (i = 0; i + 1 < APART_TEXT && answer->why[i]; i++)
		why[i] = answer->why[i] < ' ' || answer->why[i] > '~' ? '?' : answer->why[i];
	why[i] = '\0';
}

static int outcome_to_err(const struct apart *a, const struct answer *answer, char why[APART_TEXT])
{
	switch (answer->outcome) {
	case ENDED:
		take_text(answer, why);
		return answer->err <= 0 && answer->err > -256 ? answer->err : -EPROTO;
	case CANCELLED:
		snprintf(why, APART_TEXT, "given up");
		return -ECANCELED;
	case TIMED_OUT:
		snprintf(why, APART_TEXT,
			 "takes longer to be read than the %u s of processor time, or %u s in all, "
			 "that it gets",
			 a->limits->cpu_s, a->limits->wall_s);
		return -ETIME;
	default:
		snprintf(why, APART_TEXT, "what was reading it died (signal %d)", answer->err);
		return -EPROTO;
	}
}

int apart_run(struct apart *a, size_t job, const int fds[APART_FDS], char why[APART_TEXT])
{
	struct answer answer;
	int err;

	why[0] = '\0';
	pthread_mutex_lock(&a->lock);
	a->gone = a->gone || !send_request(a, job, fds) || !await_answer(a, &answer);
	if (a->gone) {
		snprintf(why, APART_TEXT, "the process that reads it is gone");
		err = -EPROTO;
	} else {
		err = outcome_to_err(a, &answer, why);
	}
	pthread_mutex_unlock(&a->lock);
	return err;
}
