/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vhost-back-end.h - who serves a guest's queues by vhost-user, in a thread of the test: it takes
 * what it is told, answers, and does not always keep to the protocol.
 */
#ifndef HVTRACE_TESTS_VHOST_BACK_END_H
#define HVTRACE_TESTS_VHOST_BACK_END_H

#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#define BACK_QUEUES   2
#define BACK_FEATURES (UINT64_C(1) << 32 | 1u << 30 | 1u << 29 | 1u << 28)

enum {
	BACK_GET_FEATURES = 1,
	BACK_SET_FEATURES = 2,
	BACK_SET_MEMORY = 5,
	BACK_SET_ADDRESS = 9,
	BACK_SET_BASE = 10,
	BACK_GET_BASE = 11,
	BACK_SET_KICK = 12,
	BACK_SET_CALL = 13,
	BACK_GET_PROTOCOL = 15,
	BACK_SET_PROTOCOL = 16,
	BACK_ENABLE = 18,
};

enum lie {
	HONEST,
	OTHER_REQUEST,
	NO_REPLY_FLAG,
	LONGER,
	REFUSES,
	OTHER_QUEUE,
	GOES,
	SILENT,
	STAYS
};

struct back_queue {
	int kick, call; /* -1: it has none */
	uint32_t base;
	uint64_t desc, used, avail;
	bool running;
};

struct back_end {
	int fd;
	pthread_t thread;
	pthread_mutex_t lock; /* what follows */
	pthread_cond_t change;
	struct back_queue queue[BACK_QUEUES];
	uint64_t features; /* that it was told */
	uint64_t pa, size; /* of its memory, which is of one part */
	bool has_memory;
	uint32_t done; /* what it says of how far it is, more than it was told */
	uint32_t lies_at;
	enum lie lie;
};

struct back_head {
	uint32_t request, flags, size;
};

union back_body {
	uint64_t val[40];
	uint32_t half[80];
};

/* False: nobody is there any more. *fd: the first that came along; or -1. */
static inline bool back_receive(struct back_end *b, void *to, size_t len, int *fd)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(8 * sizeof(int))];
	} control;
	struct iovec iov = {to, len};
	struct msghdr msg = {.msg_iov = &iov,
			     .msg_iovlen = 1,
			     .msg_control = &control,
			     .msg_controllen = sizeof(control)};

	*fd = -1;
	if (recvmsg(b->fd, &msg, MSG_WAITALL) != (ssize_t)len)
		return false;
	if (msg.msg_controllen >= CMSG_LEN(sizeof(int)))
		memcpy(fd, CMSG_DATA(&control.head), sizeof(*fd));
	return true;
}

static inline void back_take_fd(int *to, int fd)
{
	if (*to >= 0)
		close(*to);
	*to = fd;
}

/* What it is asked; the answer. */
static inline uint64_t back_do(struct back_end *b, uint32_t request, const union back_body *body,
			       int fd)
{
	struct back_queue *q = &b->queue[body->half[0] % BACK_QUEUES];
	uint32_t at;

	switch (request) {
	case BACK_GET_FEATURES:
		return BACK_FEATURES;
	case BACK_GET_PROTOCOL:
		return 8;
	case BACK_SET_FEATURES:
		b->features = body->val[0];
		break;
	case BACK_SET_MEMORY:
		b->pa = body->val[1];
		b->size = body->val[2];
		b->has_memory = fd >= 0;
		break;
	case BACK_SET_ADDRESS:
		q->desc = body->val[1];
		q->used = body->val[2];
		q->avail = body->val[3];
		break;
	case BACK_SET_BASE:
		q->base = body->half[1];
		break;
	case BACK_SET_KICK:
		back_take_fd(&q->kick, fd);
		return 0;
	case BACK_SET_CALL:
		back_take_fd(&q->call, fd);
		return 0;
	case BACK_ENABLE:
		q->running = true;
		break;
	case BACK_GET_BASE:
		q->running = false;
		at = q->base + b->done;
		return body->half[0] | (uint64_t)at << 32;
	}
	if (fd >= 0)
		close(fd);
	return 0;
}

static inline void back_lie(enum lie lie, struct back_head *head, uint64_t *val)
{
	if (lie == OTHER_REQUEST)
		head->request++;
	if (lie == NO_REPLY_FLAG)
		head->flags = 1;
	if (lie == LONGER)
		head->size = 0x7fffffff;
	if (lie == REFUSES)
		*val = 1;
	if (lie == OTHER_QUEUE)
		*val ^= 3;
}

/* False: it goes. */
static inline bool back_answer(struct back_end *b, const struct back_head *to, uint64_t val)
{
	struct {
		struct back_head head;
		uint8_t val[sizeof(val)];
	} answer = {.head = {to->request, 5, sizeof(val)}};
	bool lies = to->request == b->lies_at;

	if (to->request == BACK_SET_PROTOCOL || (lies && b->lie >= SILENT))
		return true;
	if (lies && b->lie == GOES)
		return false;
	if (lies)
		back_lie(b->lie, &answer.head, &val);
	memcpy(answer.val, &val, sizeof(val));
	return send(b->fd, &answer, sizeof(answer), MSG_NOSIGNAL) == sizeof(answer);
}

static inline void *back_thread(void *arg)
{
	struct back_end *b = arg;
	struct back_head head;
	union back_body body;
	bool on = true;
	int fd, none;

	while (on && back_receive(b, &head, sizeof(head), &fd)) {
		memset(&body, 0, sizeof(body));
		if (head.size > sizeof(body) ||
		    (head.size && !back_receive(b, &body, head.size, &none)))
			break;
		pthread_mutex_lock(&b->lock);
		on = back_answer(b, &head, back_do(b, head.request, &body, fd));
		pthread_cond_broadcast(&b->change);
		pthread_mutex_unlock(&b->lock);
	}
	pthread_mutex_lock(&b->lock);
	if (b->lie != STAYS)
		shutdown(b->fd, SHUT_RDWR);
	pthread_mutex_unlock(&b->lock);
	return NULL;
}

/* It gets the socket. b is zeroed, but for what it lies about. */
static inline bool back_end_start(struct back_end *b, int fd)
{
	b->fd = fd;
	pthread_mutex_init(&b->lock, NULL);
	pthread_cond_init(&b->change, NULL);
	for (unsigned int i = 0; i < BACK_QUEUES; i++)
		b->queue[i].kick = b->queue[i].call = -1;
	return !pthread_create(&b->thread, NULL, back_thread, b);
}

static inline void back_end_stop(struct back_end *b)
{
	shutdown(b->fd, SHUT_RDWR);
	pthread_join(b->thread, NULL);
	for (unsigned int i = 0; i < BACK_QUEUES; i++) {
		back_take_fd(&b->queue[i].kick, -1);
		back_take_fd(&b->queue[i].call, -1);
	}
	close(b->fd);
	pthread_cond_destroy(&b->change);
	pthread_mutex_destroy(&b->lock);
}

/* A copy, as soon as the queue is so. */
static inline struct back_queue back_end_queue(struct back_end *b, unsigned int i, bool running)
{
	struct back_queue q;

	pthread_mutex_lock(&b->lock);
	while (b->queue[i].running != running)
		pthread_cond_wait(&b->change, &b->lock);
	q = b->queue[i];
	pthread_mutex_unlock(&b->lock);
	return q;
}

static inline void back_end_lie(struct back_end *b, uint32_t at, enum lie lie)
{
	pthread_mutex_lock(&b->lock);
	b->lies_at = at;
	b->lie = lie;
	pthread_mutex_unlock(&b->lock);
}

#endif
