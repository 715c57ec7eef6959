// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * user.c - a passt(1): it makes the guest's connections as a program of this user does, and tells
 * the guest its address by DHCP. It ends when the socket to it is closed, so when this process
 * does.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/if_ether.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "vmm/kvm/net/local.h"
#include "vmm/kvm/net/stream.h"
#include "vmm/program.h"

#define MTU	    65520 /* a frame of it is as long as passt takes one */
#define BEGIN_MS    10000
#define END_MS	    2000
#define SOCKET_ROOM (8 << 20)
#define PORTS_MAX   (sizeof("127.0.0.1/") + MACHINE_MAX_FORWARDS * sizeof("65535:65535,"))

struct user {
	struct link link; /* first */
	struct stream stream;
	struct program_server passt;
};

static int user_ready(struct link *l)
{
	return stream_ready(&((struct user *)l)->stream);
}

static int user_send(struct link *l, const struct iovec *iov, unsigned int n, size_t len)
{
	return stream_send(&((struct user *)l)->stream, iov, n, len);
}

static int user_receive(struct link *l, const uint8_t **frame, size_t *len)
{
	return stream_receive(&((struct user *)l)->stream, frame, len);
}

static void user_close(struct link *l)
{
	struct user *u = (struct user *)l;

	if (l->fd >= 0)
		close(l->fd);
	program_leave(&u->passt, END_MS);
	free(u);
}

static const struct link_ops user_ops = {
	.ready = user_ready,
	.send = user_send,
	.receive = user_receive,
	.close = user_close,
};

/* --- its beginning ----------------------------------------------------------------------------
 */

/* -t as passt has it. */
static void ports_words(const struct machine_net *net, char *words, size_t room)
{
	size_t n = (size_t)snprintf(words, room, net->nforward ? "127.0.0.1/" : "none");

	for (size_t i = 0; i < net->nforward; i++)
		n += (size_t)snprintf(words + n, room - n, "%s%u:%u", i ? "," : "",
				      net->forward[i].host, net->forward[i].guest);
}

static int start(struct user *u, const struct machine_net *net, int fd)
{
	char ports[PORTS_MAX], mtu[8];
	const char *const argv[] = {"passt", "--foreground", "--quiet", "--stderr", "--fd",
				    "3",     "--mtu",	     mtu,	"-t",	    ports,
				    "-u",    "none",	     NULL};

	snprintf(mtu, sizeof(mtu), "%d", MTU);
	ports_words(net, ports, sizeof(ports));
	return program_serve(&u->passt, argv, fd);
}

/* What it has said last: in front of that are warnings. */
static void last_words(struct user *u, char *err, size_t errlen)
{
	char words[512], *last = words;

	program_words(&u->passt, "passt", words, sizeof(words));
	for (char *end = words; (end = strstr(end, "; ")); last = end)
		end += strlen("; ");
	snprintf(err, errlen, "passt, which is to connect the guest, says: %s", last);
}

/*
 * A frame that nobody answers, in a socket that is full by it. Passt reads it once its ports are
 * open and it has taken its own rights away; who has sent it passt then knows for the guest.
 */
static int send_first(struct user *u, const uint8_t mac[6])
{
	static const uint8_t experimental[] = {0x88, 0xb5}; /* of IEEE 802, for whatever */
	uint8_t frame[ETH_FRAME_LEN] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
	const struct iovec iov = {frame, sizeof(frame)};
	int least = 1;

	memcpy(frame + 6, mac, 6);
	memcpy(frame + 12, experimental, sizeof(experimental));
	if (setsockopt(u->link.fd, SOL_SOCKET, SO_SNDBUF, &least, sizeof(least)) ||
	    fcntl(u->link.fd, F_SETFL, O_NONBLOCK))
		return -errno;
	return stream_send(&u->stream, &iov, 1, sizeof(frame));
}

/* As much as there may be for this user: what finds no room at passt's end is lost. */
static void make_room(int fd)
{
	const int room = SOCKET_ROOM;

	if (setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &room, sizeof(room)))
		setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &room, sizeof(room));
}

static int wait_ready(struct user *u, char *err, size_t errlen)
{
	struct pollfd fds[] = {{u->link.fd, POLLOUT, 0}, {u->passt.pidfd, POLLIN, 0}};
	int n;

	while ((n = poll(fds, 2, BEGIN_MS)) < 0 && errno == EINTR)
		;
	if (!n) {
		snprintf(err, errlen, "passt, which is to connect the guest, does not begin");
		return -ETIMEDOUT;
	}
	if (!fds[1].revents && fds[0].revents == POLLOUT) {
		make_room(u->link.fd);
		return 0;
	}
	last_words(u, err, errlen);
	return -EIO;
}

static int connect_to_one(struct user *u, const struct machine_net *net, char *err, size_t errlen)
{
	int ends[2], rc;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends)) {
		snprintf(err, errlen, "cannot make a socket: %s", strerror(errno));
		return -1;
	}
	u->link.fd = u->stream.fd = ends[0];
	make_room(ends[1]);
	rc = send_first(u, net->mac);
	if (!rc)
		rc = start(u, net, ends[1]);
	close(ends[1]);
	if (rc)
		snprintf(err, errlen, "cannot start passt: %s", strerror(-rc));
	return rc ? rc : wait_ready(u, err, errlen);
}

struct link *user_open(const struct machine_net *net, char *err, size_t errlen)
{
	struct user *u = calloc(1, sizeof(*u));

	if (!u) {
		snprintf(err, errlen, "no memory for a network");
		return NULL;
	}
	u->link = (struct link){.ops = &user_ops, .fd = -1, .mtu = MTU};
	u->passt = (struct program_server){.pid = -1, .pidfd = -1, .says = -1};
	if (!connect_to_one(u, net, err, errlen))
		return &u->link;
	user_close(&u->link);
	return NULL;
}
