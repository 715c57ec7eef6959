/* SPDX-License-Identifier: GPL-2.0-or-later */
/* net.h - a virtio network card (5.1 of the specification) at a link of the host's. */
#ifndef HVTRACE_VMM_KVM_VIRTIO_NET_H
#define HVTRACE_VMM_KVM_VIRTIO_NET_H

#include "vmm/kvm/net/link.h"
#include "vmm/kvm/virtio/device.h"

struct net_config {
	struct link *link; /* closed with the device */
	uint8_t mac[6];
	/* The link has ended: one line, once; the device's thread. */
	void (*warn)(void *arg, const char *text);
	void *arg;
};

/* NULL: no memory, and the link is the caller's still. */
struct virtio_device *net_new(const struct net_config *cfg);

#endif
