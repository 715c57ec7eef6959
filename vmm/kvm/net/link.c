// SPDX-License-Identifier: GPL-2.0-or-later
/* link.c - which kind of link is opened how. */
#include <stdio.h>

#include "vmm/kvm/net/local.h"

static const struct link_kind {
	enum machine_net_kind kind;
	struct link *(*open)(const struct machine_net *net, char *err, size_t errlen);
} kinds[] = {
	{MACHINE_NET_USER, user_open},
	{MACHINE_NET_TAP, tap_open},
};

struct link *link_open(const struct machine_net *net, char *err, size_t errlen)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (kinds[i].kind == net->kind)
			return kinds[i].open(net, err, errlen);
	snprintf(err, errlen, "there is no such network");
	return NULL;
}

void link_close(struct link *l)
{
	if (l)
		l->ops->close(l);
}

int link_fd(const struct link *l)
{
	return l->fd;
}

uint16_t link_mtu(const struct link *l)
{
	return l->mtu;
}

int link_ready(struct link *l)
{
	return l->ops->ready ? l->ops->ready(l) : 0;
}

int link_send(struct link *l, const struct iovec *iov, unsigned int n, size_t len)
{
	return l->ops->send(l, iov, n, len);
}

int link_receive(struct link *l, const uint8_t **frame, size_t *len)
{
	return l->ops->receive(l, frame, len);
}
