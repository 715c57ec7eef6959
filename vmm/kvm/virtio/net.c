// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * net.c - a network card: frames between its two queues and a link. It computes no checksums and
 * cuts nothing to pieces for its driver, nor has it done so.
 */
#include "vmm/kvm/virtio/net.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* 5.1.3 of the specification. */
#define NET_F_MTU	(UINT64_C(1) << 3)
#define NET_F_MAC	(UINT64_C(1) << 5)
#define NET_F_MRG_RXBUF (UINT64_C(1) << 15)
#define NET_F_STATUS	(UINT64_C(1) << 16)

#define LINK_UP	    1u
#define PCI_NETWORK 0x020000

enum { RX, TX, NR_QUEUES };

/* Of one direction at a time, before the other has its turn. */
#define FRAMES_MAX 64u

struct net_header { /* 5.1.6 */
	uint8_t flags, gso_type;
	uint16_t header_len, gso_size, csum_start, csum_offset;
	uint16_t buffers;
};

struct net_config_space { /* 5.1.4 */
	uint8_t mac[6];
	uint16_t status, max_pairs, mtu;
};

struct net {
	struct virtio_device device;
	struct link *link;
	struct net_config cfg;
	uint8_t mac[6];
	_Atomic uint16_t status;
	uint16_t mtu;
	bool gone;  /* the link has ended */
	bool stuck; /* what is to be sent waits for the link */
	/* That waits for the driver's buffers. NULL: there is none. */
	const uint8_t *frame;
	size_t frame_len;
	struct virtq_chain chain, first;
	struct virtq_used used[VIRTQ_MAX];
};

/* --- the link -------------------------------------------------------------------------------- */

/* What the thread is to wait for: not for what it can do nothing about. */
static void wait_for_link(struct net *n)
{
	bool receives = n->device.queue[RX].enabled && !n->frame;
	short events = (short)((receives ? POLLIN : 0) | (n->stuck ? POLLOUT : 0));

	n->device.input[0] =
		(struct pollfd){.fd = n->gone || !events ? -1 : link_fd(n->link), .events = events};
}

static void end_link(struct net *n, int rc)
{
	char text[128];

	n->gone = true;
	n->stuck = false;
	n->status = 0;
	virtio_changed(&n->device);
	snprintf(text, sizeof(text), "the guest's network has ended: %s", strerror(-rc));
	if (n->cfg.warn)
		n->cfg.warn(n->cfg.arg, text);
}

/* --- from the guest -------------------------------------------------------------------------- */

/* False: nothing can be sent for now. */
static bool may_send(struct net *n)
{
	int rc = n->gone ? 0 : link_ready(n->link);

	n->stuck = rc == -EAGAIN;
	if (rc && !n->stuck)
		end_link(n, rc);
	return !n->stuck;
}

/* The frame in n->chain. What is none is lost, as all is once there is no link. */
static void send_frame(struct net *n)
{
	const struct virtq_chain *c = &n->chain;
	int rc = 0;

	if (!n->gone && !c->nin && c->out_len >= LINK_FRAME_MIN && c->out_len <= LINK_FRAME_MAX)
		rc = link_send(n->link, c->iov, c->nout, c->out_len);
	if (rc && rc != -EAGAIN)
		end_link(n, rc);
}

static void send_all(struct net *n)
{
	struct net_header h;

	for (unsigned int i = 0; i < FRAMES_MAX; i++) {
		if (!may_send(n) || !virtio_pop(&n->device, TX, &n->chain))
			return;
		if (!virtq_take(&n->chain, &h, sizeof(h))) {
			virtio_broken(&n->device);
			return;
		}
		send_frame(n);
		virtio_push(&n->device, TX, n->chain.head, 0);
	}
	virtio_kick(&n->device, TX); /* there may be more */
}

/* --- to the guest ---------------------------------------------------------------------------- */

/* The next part of header and frame, `done` of which are in chains before. False: in no chain. */
static bool put_part(struct net *n, const struct virtq_chain *c, bool first, size_t *done,
		     uint32_t *written)
{
	static const struct net_header none;
	size_t head = 0;

	if (first) {
		head = virtq_put(c, 0, &none, sizeof(none));
		if (head < sizeof(none))
			return false;
	}
	*written = (uint32_t)(head + virtq_put(c, head, n->frame + *done, n->frame_len - *done));
	*done += *written - head;
	return *written > 0;
}

/*
 * n->frame, in as many chains as that takes, which go to the driver together. False: there are too
 * few for now, and it has them still.
 */
static bool deliver(struct net *n)
{
	bool merge = virtio_features(&n->device) & NET_F_MRG_RXBUF;
	unsigned int most = merge ? n->device.queue[RX].q.size : 1;
	size_t done = 0;
	uint16_t count = 0;

	do {
		struct virtq_chain *c = count ? &n->chain : &n->first;

		if (count == most || !virtio_pop(&n->device, RX, c)) {
			virtio_unpop(&n->device, RX, count);
			return count == most; /* it is too long for this driver: lost */
		}
		n->used[count].head = c->head;
		if (!put_part(n, c, !count, &done, &n->used[count].written)) {
			virtio_broken(&n->device);
			return false;
		}
		count++;
	} while (done < n->frame_len);
	virtq_put(&n->first, offsetof(struct net_header, buffers), &count, sizeof(count));
	virtio_push_all(&n->device, RX, n->used, count);
	return true;
}

static void receive_all(struct net *n)
{
	for (unsigned int i = 0; i < FRAMES_MAX; i++) {
		int rc = n->frame || n->gone ? 0 : link_receive(n->link, &n->frame, &n->frame_len);

		if (rc && rc != -EAGAIN)
			end_link(n, rc);
		if (!n->frame || !deliver(n))
			return;
		n->frame = NULL;
	}
	virtio_kick(&n->device, RX);
}

/* --- the device ------------------------------------------------------------------------------ */

static void net_serve(void *dev, unsigned int queue)
{
	struct net *n = dev;

	if (queue == TX)
		send_all(n);
	else
		receive_all(n);
	wait_for_link(n);
}

static void net_input(void *dev, unsigned int i)
{
	struct net *n = dev;

	(void)i;
	if (n->stuck && n->device.queue[TX].enabled)
		send_all(n);
	if (n->device.queue[RX].enabled)
		receive_all(n);
	wait_for_link(n);
}

static void net_reset(void *dev)
{
	struct net *n = dev;

	n->frame = NULL;
	n->stuck = false;
	wait_for_link(n);
}

static void net_read_config(void *dev, uint32_t off, void *to, size_t len)
{
	struct net *n = dev;
	struct net_config_space c = {.status = n->status, .max_pairs = 1, .mtu = n->mtu};

	memcpy(c.mac, n->mac, sizeof(c.mac));
	if (off < sizeof(c))
		memcpy(to, (const uint8_t *)&c + off,
		       len < sizeof(c) - off ? len : sizeof(c) - off);
}

static void net_free(void *dev)
{
	struct net *n = dev;

	link_close(n->link);
	free(n);
}

static const struct virtio_ops net_ops = {
	.thread = "virtio-net",
	.id = 1,
	.pci_class = PCI_NETWORK,
	.nqueues = NR_QUEUES,
	.read_config = net_read_config,
	.serve = net_serve,
	.reset = net_reset,
	.input = net_input,
	.free = net_free,
};

struct virtio_device *net_new(const struct net_config *cfg)
{
	struct net *n = calloc(1, sizeof(*n));
	uint64_t features = NET_F_MAC | NET_F_MRG_RXBUF | NET_F_STATUS;

	if (!n)
		return NULL;
	n->cfg = *cfg;
	n->link = cfg->link;
	n->mtu = link_mtu(n->link);
	n->status = LINK_UP;
	memcpy(n->mac, cfg->mac, sizeof(n->mac));
	if (n->mtu)
		features |= NET_F_MTU;
	if (virtio_init(&n->device, &net_ops, n, features)) {
		free(n);
		return NULL;
	}
	wait_for_link(n);
	return &n->device;
}
