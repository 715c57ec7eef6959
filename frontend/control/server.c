// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * server.c - serves the files of a trace to programs of the same user that connect to a socket.
 *
 * A thread for each, as each may wait for long (a read of trace_pipe). What they wait for ends when
 * the server's `stop` can be read. Who has gone is done with before the next one is served: a
 * command that was interrupted is not in the way of the one behind it. Unless it takes long: what
 * it asked for cannot be taken back, and then holds nobody.
 */
#include "frontend/control/server.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "frontend/control/peer.h"
#include "frontend/control/send-snapshot.h"
#include "vmm/thread.h"

/* How long one may take to say what it wants. */
#define FIRST_MS 5000
/* How long one waits for those who have gone, and how soon it is noticed that it has gone, too. */
#define GONE_MS	     1000
#define GONE_TICK_MS 20
/* When the host has no descriptors or memory left: how soon the next one is let in. */
#define SHORTAGE_MS 100

struct control_server {
	struct view *view;
	struct control_saver saver; /* .save NULL: there is none */
	int listener;
	int stop; /* becomes readable */
	pthread_t thread;
	pthread_mutex_t lock; /* of what follows */
	pthread_cond_t gone;
	struct connection *first;
	unsigned int peers;
	uint64_t served; /* so many, until now */
};

struct connection {
	struct connection *prev, *next;
	struct control_server *server;
	uint64_t number; /* in the order in which they came */
	struct wire wire;
	struct wire_message request, answer;
};

/* --- all connections ---------------------------------------------------------------------- */

static int enter(struct connection *c)
{
	struct control_server *s = c->server;
	int rc = -EUSERS;

	pthread_mutex_lock(&s->lock);
	if (s->peers < CONTROL_PEERS_MAX) {
		s->peers++;
		c->number = s->served++;
		c->prev = NULL;
		c->next = s->first;
		if (c->next)
			c->next->prev = c;
		s->first = c;
		rc = 0;
	}
	pthread_mutex_unlock(&s->lock);
	return rc;
}

static void leave(struct connection *c)
{
	struct control_server *s = c->server;

	pthread_mutex_lock(&s->lock);
	s->peers--;
	if (c->next)
		c->next->prev = c->prev;
	if (c->prev)
		c->prev->next = c->next;
	else
		s->first = c->next;
	close(c->wire.fd);
	free(c);
	pthread_cond_broadcast(&s->gone);
	pthread_mutex_unlock(&s->lock);
}

static bool has_gone(const struct connection *c)
{
	struct pollfd p = {c->wire.fd, POLLRDHUP, 0};

	return poll(&p, 1, 0) > 0;
}

/* The lock is held. */
static bool is_one_before_gone(const struct connection *c)
{
	const struct connection *other = c->server->first;

	while (other && (other->number >= c->number || !has_gone(other)))
		other = other->next;
	return other;
}

static void wait_for_the_gone(struct connection *c)
{
	struct control_server *s = c->server;

	pthread_mutex_lock(&s->lock);
	for (int ms = 0; ms < GONE_MS && !wire_is_over(&c->wire) && is_one_before_gone(c);
	     ms += GONE_TICK_MS) {
		struct timespec end;

		clock_gettime(CLOCK_MONOTONIC, &end);
		end.tv_nsec += GONE_TICK_MS * 1000000L;
		end.tv_sec += end.tv_nsec / 1000000000;
		end.tv_nsec %= 1000000000;
		pthread_cond_clockwait(&s->gone, &s->lock, CLOCK_MONOTONIC, &end);
	}
	pthread_mutex_unlock(&s->lock);
}

/* --- a connection ------------------------------------------------------------------------- */

static bool is_over(void *arg)
{
	const struct connection *c = arg;

	return wire_is_over(&c->wire);
}

static int answer(struct connection *c)
{
	c->answer.head.version = WIRE_VERSION;
	return wire_send(&c->wire, &c->answer);
}

/* What is said to one who is not served. */
static void refuse(struct connection *c, int why)
{
	c->answer.head = (struct wire_head){.value = why};
	answer(c);
}

static int serve_one(struct connection *c, struct peer *peer)
{
	if (c->request.head.op == WIRE_SAVE)
		send_snapshot(&c->server->saver, &c->wire, &c->answer);
	else
		peer_answer(peer, &c->request, &c->answer);
	return answer(c);
}

static void *serve(void *arg)
{
	struct connection *c = arg;
	struct peer peer = {
		.view = c->server->view,
		.may_all = geteuid() == 0,
		.is_over = is_over,
		.arg = c,
	};
	int rc;

	wait_for_the_gone(c);
	rc = wire_receive(&c->wire, &c->request, FIRST_MS);
	while (!rc) {
		rc = serve_one(c, &peer);
		if (!rc)
			rc = wire_receive(&c->wire, &c->request, -1);
	}
	if (rc == -EPROTONOSUPPORT || rc == -EPROTO)
		refuse(c, rc);
	peer_exit(&peer);
	leave(c);
	return NULL;
}

/* --- who connects ------------------------------------------------------------------------- */

static bool is_same_user(int fd)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);

	return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) && peer.uid == geteuid();
}

/* It is the thread's, or refused. */
static void serve_or_refuse(struct connection *c)
{
	pthread_t thread;
	int rc = enter(c);

	if (rc) {
		refuse(c, rc);
		close(c->wire.fd);
		free(c);
		return;
	}
	rc = thread_start(&thread, "control", NULL, serve, c);
	if (!rc) {
		pthread_detach(thread);
		return;
	}
	refuse(c, rc);
	leave(c);
}

static void connected(struct control_server *s, int fd)
{
	struct connection *c = is_same_user(fd) ? malloc(sizeof(*c)) : NULL;

	if (!c) {
		close(fd);
		return;
	}
	c->server = s;
	c->wire = (struct wire){fd, {s->stop, POLLIN, 0}};
	serve_or_refuse(c);
}

static void *listen_to_all(void *arg)
{
	struct control_server *s = arg;
	struct pollfd fds[] = {{s->stop, POLLIN, 0}, {s->listener, POLLIN, 0}};

	for (;;) {
		int fd;

		if (poll(fds, 2, -1) < 0)
			continue;
		if (fds[0].revents)
			return NULL;
		fd = accept4(s->listener, NULL, NULL, SOCK_CLOEXEC);
		if (fd >= 0)
			connected(s, fd);
		else if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
			poll(fds, 1, SHORTAGE_MS);
	}
}

/* --- the server --------------------------------------------------------------------------- */

static void free_server(struct control_server *s)
{
	close(s->listener);
	if (s->stop >= 0)
		close(s->stop);
	pthread_cond_destroy(&s->gone);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

int control_start(struct control_server **server, struct view *view,
		  const struct control_saver *saver, int listener)
{
	struct control_server *s = calloc(1, sizeof(*s));
	int rc;

	if (!s) {
		close(listener);
		return -ENOMEM;
	}
	s->view = view;
	if (saver)
		s->saver = *saver;
	s->listener = listener;
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->gone, NULL);
	s->stop = eventfd(0, EFD_CLOEXEC);
	rc = s->stop < 0 ? -errno : thread_start(&s->thread, "control", NULL, listen_to_all, s);
	if (rc)
		free_server(s);
	else
		*server = s;
	return rc;
}

void control_stop(struct control_server *s)
{
	if (!s)
		return;
	eventfd_write(s->stop, 1);
	pthread_join(s->thread, NULL);
	pthread_mutex_lock(&s->lock);
	while (s->peers)
		pthread_cond_wait(&s->gone, &s->lock);
	pthread_mutex_unlock(&s->lock);
	free_server(s);
}
