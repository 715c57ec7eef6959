// SPDX-License-Identifier: GPL-2.0-or-later
/* tap.c - an interface of the host's, which somebody has made: its other end is ours. */
#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "vmm/kvm/net/local.h"

#define TUN "/dev/net/tun"

struct tap {
	struct link link; /* first */
	uint8_t frame[LINK_FRAME_MAX];
};

/* What it does not take for now is lost; it is down, as when somebody has taken it down. */
static int tap_send(struct link *l, const struct iovec *iov, unsigned int n, size_t len)
{
	(void)len;
	if (writev(l->fd, iov, (int)n) >= 0)
		return 0;
	return errno == EBADFD ? -errno : 0; /* the interface is no more */
}

static int tap_receive(struct link *l, const uint8_t **frame, size_t *len)
{
	struct tap *t = (struct tap *)l;
	ssize_t got = read(l->fd, t->frame, sizeof(t->frame));

	if (got < 0)
		return errno == EINTR || errno == EIO ? -EAGAIN : -errno;
	*frame = t->frame;
	*len = (size_t)got;
	return 0;
}

static void tap_close(struct link *l)
{
	close(l->fd);
	free(l);
}

static const struct link_ops tap_ops = {
	.send = tap_send,
	.receive = tap_receive,
	.close = tap_close,
};

static int complain(const char *name, char *err, size_t errlen)
{
	switch (errno) {
	case EBUSY:
		snprintf(err, errlen, "the tap %s is in use by another program", name);
		break;
	case EPERM:
		snprintf(err, errlen,
			 "the tap %s is not this user's (ip tuntap add %s mode tap user NAME)",
			 name, name);
		break;
	case EINVAL:
		snprintf(err, errlen, "%s is no tap, or one of several queues (ip -d link show %s)",
			 name, name);
		break;
	default:
		snprintf(err, errlen, "cannot connect to the tap %s: %s", name, strerror(errno));
	}
	return -1;
}

/* One that is not there would be made, for who may do so. */
static int attach(int fd, const char *name, char *err, size_t errlen)
{
	struct ifreq req = {.ifr_flags = IFF_TAP | IFF_NO_PI};

	if (!if_nametoindex(name)) {
		snprintf(err, errlen, "there is no interface %s (ip tuntap add %s mode tap)", name,
			 name);
		return -1;
	}
	memcpy(req.ifr_name, name, strnlen(name, sizeof(req.ifr_name) - 1));
	return ioctl(fd, TUNSETIFF, &req) ? complain(name, err, errlen) : 0;
}

struct link *tap_open(const struct machine_net *net, char *err, size_t errlen)
{
	struct tap *t = calloc(1, sizeof(*t));

	if (!t) {
		snprintf(err, errlen, "no memory for a tap");
		return NULL;
	}
	t->link.ops = &tap_ops;
	t->link.fd = open(TUN, O_RDWR | O_CLOEXEC | O_NONBLOCK);
	if (t->link.fd < 0)
		snprintf(err, errlen, "cannot open " TUN ": %s%s", strerror(errno),
			 errno == EACCES || errno == EPERM ? "" : " (modprobe tun)");
	else if (!attach(t->link.fd, net->tap, err, errlen))
		return &t->link;
	if (t->link.fd >= 0)
		close(t->link.fd);
	free(t);
	return NULL;
}
