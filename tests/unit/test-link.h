/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test-link.h - a link of a network card's to a socket, whose other end the test has. */
#ifndef HVTRACE_TESTS_TEST_LINK_H
#define HVTRACE_TESTS_TEST_LINK_H

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "vmm/kvm/net/local.h"
#include "vmm/kvm/net/stream.h"

#define TEST_LINK_MTU 9000

struct test_link {
	struct link link; /* first */
	struct stream stream;
	int peer; /* its other end, the test's to close; a reader of it waits */
};

static inline int test_link_ready(struct link *l)
{
	return stream_ready(&((struct test_link *)l)->stream);
}

static inline int test_link_send(struct link *l, const struct iovec *iov, unsigned int n,
				 size_t len)
{
	return stream_send(&((struct test_link *)l)->stream, iov, n, len);
}

static inline int test_link_receive(struct link *l, const uint8_t **frame, size_t *len)
{
	return stream_receive(&((struct test_link *)l)->stream, frame, len);
}

static inline void test_link_close(struct link *l)
{
	close(l->fd);
	free(l);
}

/* NULL: no memory, or no more descriptors. */
static inline struct test_link *test_link_new(void)
{
	static const struct link_ops ops = {test_link_ready, test_link_send, test_link_receive,
					    test_link_close};
	struct test_link *t = calloc(1, sizeof(*t));
	int ends[2];

	if (!t || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends)) {
		free(t);
		return NULL;
	}
	fcntl(ends[0], F_SETFL, O_NONBLOCK);
	t->link = (struct link){.ops = &ops, .fd = ends[0], .mtu = TEST_LINK_MTU};
	t->stream.fd = ends[0];
	t->peer = ends[1];
	return t;
}

/* The peer's frame. */
static inline void test_link_put(struct test_link *t, uint8_t *frame, uint32_t len)
{
	uint32_t head = htonl(len);
	const struct iovec iov[] = {{&head, sizeof(head)}, {frame, len}};

	if (writev(t->peer, iov, 2) != (ssize_t)(sizeof(head) + len))
		abort();
}

/* The next frame that comes to the peer: its length. */
static inline uint32_t test_link_get(struct test_link *t, uint8_t *frame, size_t room)
{
	uint32_t head;

	if (recv(t->peer, &head, sizeof(head), MSG_WAITALL) != sizeof(head) || ntohl(head) > room ||
	    recv(t->peer, frame, ntohl(head), MSG_WAITALL) != (ssize_t)ntohl(head))
		abort();
	return ntohl(head);
}

#endif
