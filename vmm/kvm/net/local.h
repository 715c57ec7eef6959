/* SPDX-License-Identifier: GPL-2.0-or-later */
/* local.h - what a kind of link is to link.c. */
#ifndef HVTRACE_VMM_KVM_NET_LOCAL_H
#define HVTRACE_VMM_KVM_NET_LOCAL_H

#include "vmm/kvm/net/link.h"

/* As the functions of link.h. */
struct link_ops {
	int (*ready)(struct link *l); /* NULL: always */
	int (*send)(struct link *l, const struct iovec *iov, unsigned int n, size_t len);
	int (*receive)(struct link *l, const uint8_t **frame, size_t *len);
	void (*close)(struct link *l); /* frees l */
};

/* A kind of link embeds this as its first member. */
struct link {
	const struct link_ops *ops;
	int fd;
	uint16_t mtu;
};

/* tap.c, user.c: NULL: err says why. */
struct link *tap_open(const struct machine_net *net, char *err, size_t errlen);
struct link *user_open(const struct machine_net *net, char *err, size_t errlen);

#endif
