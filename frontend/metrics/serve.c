// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * serve.c - serves metrics by HTTP.
 *
 * The library parses and answers; who connects, and for how long, is looked after here, on a thread
 * of our own: its timeouts begin anew with each byte that somebody sends.
 */
#include "frontend/metrics/answer.h"
#include "frontend/metrics/listener.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "vmm/thread.h"

/* Of one address, so that no one keeps out all others. Two scrapers, and who looks at them. */
#define PER_ADDRESS 8
/* Of a request's line and headers, and of what the library keeps of a connection. */
#define PEER_BYTES 16384
/* When the host has no descriptors left: how soon the next one is let in. */
#define SHORTAGE_MS 100

struct peer {
	int fd; /* -1: there is none */
	int64_t until_ms;
};

struct metrics_server {
	struct answers answers;
	struct listener listener;
	struct MHD_Daemon *daemon;
	int events; /* the library's: readable when it has something to do */
	int stop;   /* becomes readable */
	pthread_t thread;
	struct peer peers[METRICS_PEERS_MAX]; /* the thread's alone */
};

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* --- peers ----------------------------------------------------------------------------------- */

/* That of a descriptor, of -1 a free one. NULL: none. */
static struct peer *peer_of(struct metrics_server *s, int fd)
{
	for (size_t i = 0; i < METRICS_PEERS_MAX; i++)
		if (s->peers[i].fd == fd)
			return &s->peers[i];
	return NULL;
}

static enum MHD_Result on_request(void *arg, struct MHD_Connection *c, const char *url,
				  const char *method, const char *version, const char *data,
				  size_t *data_len, void **request)
{
	struct metrics_server *s = arg;

	(void)version;
	(void)data;
	(void)data_len;
	(void)request;
	return answer(&s->answers, c, url, method);
}

static void on_connection(void *arg, struct MHD_Connection *c, void **socket,
			  enum MHD_ConnectionNotificationCode code)
{
	struct metrics_server *s = arg;
	const union MHD_ConnectionInfo *info =
		s->answers.http->MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);
	struct peer *p =
		info && code == MHD_CONNECTION_NOTIFY_CLOSED ? peer_of(s, info->connect_fd) : NULL;

	(void)socket;
	if (p)
		p->fd = -1;
}

/* It is the library's, which closes it, also on error. */
static void let_in(struct metrics_server *s, struct peer *p)
{
	struct sockaddr_storage from;
	socklen_t len = sizeof(from);
	int fd = accept4(s->listener.fd, (struct sockaddr *)&from, &len,
			 SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct pollfd stop = {s->stop, POLLIN, 0};

	if (fd < 0) {
		if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
			poll(&stop, 1, SHORTAGE_MS);
		return;
	}
	*p = (struct peer){fd, now_ms() + METRICS_PEER_MS};
	if (s->answers.http->MHD_add_connection(s->daemon, fd, (struct sockaddr *)&from, len) !=
	    MHD_YES)
		p->fd = -1;
}

/* Whose time is over: the library sees that it has gone. It is looked at again until it has. */
static void end_late(struct metrics_server *s)
{
	int64_t now = now_ms();

	for (size_t i = 0; i < METRICS_PEERS_MAX; i++)
		if (s->peers[i].fd >= 0 && s->peers[i].until_ms <= now) {
			shutdown(s->peers[i].fd, SHUT_RDWR);
			s->peers[i].until_ms = now + SHORTAGE_MS;
		}
}

/* --- the thread ------------------------------------------------------------------------------ */

/* Until something is to be done, in ms; -1: whenever somebody connects. */
static int wait_ms(struct metrics_server *s)
{
	int64_t now = now_ms(), until = INT64_MAX;
	MHD_UNSIGNED_LONG_LONG its;

	if (s->answers.http->MHD_get_timeout(s->daemon, &its) == MHD_YES)
		until = now + (int64_t)(its < METRICS_PEER_MS ? its : METRICS_PEER_MS);
	for (size_t i = 0; i < METRICS_PEERS_MAX; i++)
		if (s->peers[i].fd >= 0 && s->peers[i].until_ms < until)
			until = s->peers[i].until_ms;
	return until == INT64_MAX ? -1 : until > now ? (int)(until - now) : 0;
}

static void *serve(void *arg)
{
	struct metrics_server *s = arg;

	for (;;) {
		struct peer *room = peer_of(s, -1);
		struct pollfd fds[] = {
			{s->stop, POLLIN, 0},
			{s->events, POLLIN, 0},
			{room ? s->listener.fd : -1, POLLIN, 0},
		};

		if (poll(fds, 3, wait_ms(s)) < 0)
			continue;
		if (fds[0].revents)
			return NULL;
		if (room && fds[2].revents)
			let_in(s, room);
		end_late(s);
		s->answers.http->MHD_run(s->daemon);
	}
}

/* --- the server ------------------------------------------------------------------------------ */

/* The library gets no socket to listen at, and prints nothing. */
static bool start_daemon(struct metrics_server *s)
{
	const struct http_library *http = s->answers.http;
	const union MHD_DaemonInfo *info;

	s->daemon = http->MHD_start_daemon(
		MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET, 0, NULL, NULL, on_request, s,
		MHD_OPTION_CONNECTION_LIMIT, (unsigned int)METRICS_PEERS_MAX,
		MHD_OPTION_PER_IP_CONNECTION_LIMIT, (unsigned int)PER_ADDRESS,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)PEER_BYTES,
		MHD_OPTION_NOTIFY_CONNECTION, on_connection, s, MHD_OPTION_END);
	if (!s->daemon)
		return false;
	info = http->MHD_get_daemon_info(s->daemon, MHD_DAEMON_INFO_EPOLL_FD);
	s->events = info ? info->epoll_fd : -1;
	return s->events >= 0;
}

static void free_server(struct metrics_server *s)
{
	answers_exit(&s->answers);
	if (s->daemon)
		s->answers.http->MHD_stop_daemon(s->daemon);
	if (s->stop >= 0)
		close(s->stop);
	listener_close(&s->listener);
	free(s);
}

static int start(struct metrics_server *s, char *err, size_t errlen)
{
	int rc;

	s->stop = eventfd(0, EFD_CLOEXEC);
	if (s->stop < 0)
		rc = -errno;
	else if (!start_daemon(s))
		rc = -ENOMEM;
	else
		rc = thread_start(&s->thread, "metrics", NULL, serve, s);
	if (rc)
		snprintf(err, errlen, "metrics cannot be served: %s", strerror(-rc));
	return rc;
}

int metrics_serve(struct metrics_server **server, struct metrics *m, const char *address, char *err,
		  size_t errlen)
{
	const char *missing = http_library_missing();
	struct metrics_server *s;
	int rc;

	if (missing) {
		snprintf(err, errlen, "%s", missing);
		return -ENOENT;
	}
	s = calloc(1, sizeof(*s));
	if (!s) {
		snprintf(err, errlen, "out of memory");
		return -ENOMEM;
	}
	s->answers = (struct answers){.http = http_library(), .metrics = m};
	s->stop = -1;
	for (size_t i = 0; i < METRICS_PEERS_MAX; i++)
		s->peers[i].fd = -1;
	rc = listener_open(&s->listener, address, err, errlen);
	if (!rc)
		rc = start(s, err, errlen);
	if (rc)
		free_server(s);
	else
		*server = s;
	return rc;
}

const char *metrics_server_address(const struct metrics_server *s)
{
	return s->listener.at;
}

void metrics_stop(struct metrics_server *s)
{
	if (!s)
		return;
	eventfd_write(s->stop, 1);
	pthread_join(s->thread, NULL);
	free_server(s);
}
