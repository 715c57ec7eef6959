// SPDX-License-Identifier: GPL-2.0-or-later
/* rng.c - fills the driver's buffers with random numbers. */
#include "vmm/kvm/virtio/rng.h"

#include <stdlib.h>
#include <sys/random.h>

/* Of a buffer; drivers ask again. */
#define BYTES_MAX 4096u

#define PCI_UNCLASSIFIED 0x00ff00

struct rng {
	struct virtio_device device;
	struct virtq_chain chain;
};

static uint32_t fill(const struct virtq_chain *c)
{
	uint32_t written = 0;

	for (unsigned int i = c->nout; i < c->nout + c->nin && written < BYTES_MAX; i++) {
		size_t room = BYTES_MAX - written;
		size_t len = c->iov[i].iov_len < room ? c->iov[i].iov_len : room;
		ssize_t got = getrandom(c->iov[i].iov_base, len, 0);

		if (got > 0)
			written += (uint32_t)got;
		if (got < (ssize_t)len)
			break;
	}
	return written;
}

static void rng_serve(void *dev, unsigned int queue)
{
	struct rng *r = dev;

	while (virtio_pop(&r->device, queue, &r->chain))
		virtio_push(&r->device, queue, r->chain.head, fill(&r->chain));
}

static void rng_read_config(void *dev, uint32_t off, void *to, size_t len)
{
	(void)dev, (void)off, (void)to, (void)len; /* it has none */
}

static const struct virtio_ops rng_ops = {
	.thread = "virtio-rng",
	.id = 4,
	.pci_class = PCI_UNCLASSIFIED,
	.nqueues = 1,
	.read_config = rng_read_config,
	.serve = rng_serve,
	.free = free,
};

struct virtio_device *rng_new(void)
{
	struct rng *r = calloc(1, sizeof(*r));

	if (!r || !virtio_init(&r->device, &rng_ops, r, 0))
		return r ? &r->device : NULL;
	free(r);
	return NULL;
}
