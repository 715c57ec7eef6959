// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fs.c - a file system device whose queues another process serves: it has their doorbells, and what
 * it gives back comes by here, as an interrupt of whatever vector the driver wants for that.
 *
 * Once that process is gone, or is not to be believed, each request is answered with an error, or
 * tasks of the guest would wait for ever (Linux's driver does not look at DEVICE_NEEDS_RESET). One
 * that does not end leaves a device that needs a reset, as it may go on in the queues.
 */
#include "vmm/kvm/virtio/fs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define PCI_STORAGE_OTHER 0x018000

enum { URGENT, REQUESTS, NR_QUEUES };
enum { INPUT_SHARE, INPUT_CALLS }; /* of INPUT_CALLS and the following: those of the queues */

struct fs_config_space { /* 5.11.4 */
	char tag[FS_TAG_SIZE];
	uint32_t request_queues;
};

struct fs {
	struct virtio_device device;
	struct fs_config cfg;
	struct fs_config_space space;
	int call[NR_QUEUES];
	uint16_t next[NR_QUEUES]; /* where it goes on */
	bool running[NR_QUEUES];
	bool gone;  /* the process is not asked any more, */
	bool ended; /* and has ended */
	struct virtq_chain chain;
};

/* fuse_in_header and fuse_out_header of include/uapi/linux/fuse.h. */
struct fuse_in {
	uint32_t len, opcode;
	uint64_t unique;
};

struct fuse_out {
	uint32_t len;
	int32_t error;
	uint64_t unique;
};

/* How much of the answer there was room for: requests that want none have no room. */
static uint32_t refuse(struct virtq_chain *c)
{
	struct fuse_in in;
	struct fuse_out out = {.len = sizeof(out), .error = -ENOTCONN};

	if (!virtq_take(c, &in, sizeof(in)))
		return 0;
	out.unique = in.unique;
	return (uint32_t)virtq_put(c, 0, &out, sizeof(out));
}

static void fs_serve(void *dev, unsigned int queue)
{
	struct fs *f = dev;

	while (virtio_pop(&f->device, queue, &f->chain))
		virtio_push(&f->device, queue, f->chain.head, refuse(&f->chain));
}

static void end_share(struct fs *f, int rc)
{
	char text[512];

	f->gone = true;
	f->device.input[INPUT_SHARE].fd = -1;
	f->ended = share_end(f->cfg.share);
	snprintf(text, sizeof(text), "the guest has lost the shared folder %s: %s", f->cfg.path,
		 share_why(rc));
	if (f->cfg.warn)
		f->cfg.warn(f->cfg.arg, text);
	if (f->ended)
		virtio_take_over(&f->device);
	else
		virtio_broken(&f->device);
}

static int start_queue(struct fs *f, unsigned int i)
{
	const struct virtio_queue *q = &f->device.queue[i];
	const struct share_queue queue = {.desc = q->place.desc,
					  .avail = q->place.avail,
					  .used = q->place.used,
					  .size = q->place.size,
					  .next = f->next[i],
					  .kick = q->kick_fd,
					  .call = f->call[i]};
	int rc = share_start_queue(f->cfg.share, i, &queue);

	f->running[i] = !rc;
	return rc;
}

static void fs_begin(void *dev)
{
	struct fs *f = dev;
	int rc;

	if (f->gone) {
		if (!f->ended)
			virtio_broken(&f->device);
		return;
	}
	rc = share_set_features(f->cfg.share, virtio_features(&f->device));
	for (unsigned int i = 0; i < NR_QUEUES && !rc; i++)
		if (f->device.queue[i].enabled && !f->running[i])
			rc = start_queue(f, i);
	if (rc)
		end_share(f, rc);
}

static void fs_drain(void *dev)
{
	struct fs *f = dev;

	for (unsigned int i = 0; i < NR_QUEUES; i++) {
		int rc = f->gone || !f->running[i] ? 0
						   : share_stop_queue(f->cfg.share, i, &f->next[i]);

		f->running[i] = false;
		if (rc)
			end_share(f, rc);
	}
}

static void fs_reset(void *dev)
{
	struct fs *f = dev;

	memset(f->next, 0, sizeof(f->next));
}

static void fs_input(void *dev, unsigned int i)
{
	struct fs *f = dev;
	eventfd_t count;
	uint8_t byte;

	if (i != INPUT_SHARE) {
		if (!eventfd_read(f->call[i - INPUT_CALLS], &count))
			virtio_interrupt(&f->device, i - INPUT_CALLS);
	} else if (!f->gone) {
		/* It has not been asked for anything. */
		end_share(f, read(share_fd(f->cfg.share), &byte, 1) > 0 ? -EPROTO : -EPIPE);
	}
}

static void fs_read_config(void *dev, uint32_t off, void *to, size_t len)
{
	const struct fs *f = dev;

	if (off < sizeof(f->space))
		memcpy(to, (const uint8_t *)&f->space + off,
		       len < sizeof(f->space) - off ? len : sizeof(f->space) - off);
}

static void close_calls(struct fs *f)
{
	for (unsigned int i = 0; i < NR_QUEUES; i++)
		if (f->call[i] >= 0)
			close(f->call[i]);
}

static void fs_free(void *dev)
{
	struct fs *f = dev;

	close_calls(f);
	share_close(f->cfg.share);
	free(f);
}

static const struct virtio_ops fs_ops = {
	.thread = "virtio-fs",
	.id = 26,
	.pci_class = PCI_STORAGE_OTHER,
	.nqueues = NR_QUEUES,
	.read_config = fs_read_config,
	.serve = fs_serve,
	.begin = fs_begin,
	.drain = fs_drain,
	.reset = fs_reset,
	.input = fs_input,
	.free = fs_free,
};

static bool open_calls(struct fs *f)
{
	bool all = true;

	for (unsigned int i = 0; i < NR_QUEUES; i++) {
		f->call[i] = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
		all &= f->call[i] >= 0;
	}
	return all;
}

struct virtio_device *fs_new(const struct fs_config *cfg)
{
	uint64_t known = share_features(cfg->share);
	struct fs *f = known & VIRTIO_F_VERSION_1 ? calloc(1, sizeof(*f)) : NULL;

	if (!f)
		return NULL;
	if (!open_calls(f) || virtio_init(&f->device, &fs_ops, f, 0)) {
		close_calls(f);
		free(f);
		return NULL;
	}
	f->cfg = *cfg;
	f->device.features &= known;
	f->device.elsewhere = true;
	memcpy(f->space.tag, cfg->tag, strnlen(cfg->tag, FS_TAG_SIZE));
	f->space.request_queues = NR_QUEUES - REQUESTS;
	f->device.input[INPUT_SHARE] = (struct pollfd){share_fd(cfg->share), POLLIN, 0};
	for (unsigned int i = 0; i < NR_QUEUES; i++)
		f->device.input[INPUT_CALLS + i] = (struct pollfd){f->call[i], POLLIN, 0};
	return &f->device;
}
