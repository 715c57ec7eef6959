// SPDX-License-Identifier: GPL-2.0-or-later
/* console.c - what is written to a terminal of the guest's, and what is typed there. */
#include "vmm/kvm/virtio/console.h"

#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define PCI_OTHER 0x078000

enum { RX, TX, NR_QUEUES };

/* Of one buffer of the driver's: it writes no more at a time. What is more is lost. */
#define TEXT_MAX 65536u
/* That nobody has read yet. */
#define TYPED_MAX 4096u

struct console {
	struct virtio_device device;
	void (*output)(void *arg, const char *text, size_t len);
	void *arg;
	struct virtq_chain chain;
	char text[TEXT_MAX];
	int typed_fd; /* eventfd: something has been typed */
	pthread_mutex_t lock;
	char typed[TYPED_MAX];
	size_t ntyped;
};

static void send_all(struct console *c)
{
	while (virtio_pop(&c->device, TX, &c->chain)) {
		size_t len = c->chain.out_len < TEXT_MAX ? c->chain.out_len : TEXT_MAX;

		virtq_take(&c->chain, c->text, len);
		if (c->output && len)
			c->output(c->arg, c->text, len);
		virtio_push(&c->device, TX, c->chain.head, 0);
	}
}

/* How much of it fits into c->chain. */
static size_t put_typed(struct console *c)
{
	size_t len;

	pthread_mutex_lock(&c->lock);
	len = virtq_put(&c->chain, 0, c->typed, c->ntyped);
	c->ntyped -= len;
	memmove(c->typed, c->typed + len, c->ntyped);
	pthread_mutex_unlock(&c->lock);
	return len;
}

static bool has_typed(struct console *c)
{
	bool has;

	pthread_mutex_lock(&c->lock);
	has = c->ntyped;
	pthread_mutex_unlock(&c->lock);
	return has;
}

static void receive_all(struct console *c)
{
	while (has_typed(c) && virtio_pop(&c->device, RX, &c->chain)) {
		size_t len = put_typed(c);

		if (!len) { /* it is not to be written to */
			virtio_broken(&c->device);
			return;
		}
		virtio_push(&c->device, RX, c->chain.head, (uint32_t)len);
	}
}

static void console_serve(void *dev, unsigned int queue)
{
	if (queue == TX)
		send_all(dev);
	else
		receive_all(dev);
}

static void console_input(void *dev, unsigned int i)
{
	struct console *c = dev;
	eventfd_t count;

	(void)i;
	if (!eventfd_read(c->typed_fd, &count) && c->device.queue[RX].enabled)
		receive_all(c);
}

static void console_read_config(void *dev, uint32_t off, void *to, size_t len)
{
	(void)dev, (void)off, (void)to, (void)len; /* what is there none of its features says */
}

static void console_free(void *dev)
{
	struct console *c = dev;

	close(c->typed_fd);
	pthread_mutex_destroy(&c->lock);
	free(c);
}

static const struct virtio_ops console_ops = {
	.thread = "virtio-console",
	.id = 3,
	.pci_class = PCI_OTHER,
	.nqueues = NR_QUEUES,
	.read_config = console_read_config,
	.serve = console_serve,
	.input = console_input,
	.free = console_free,
};

struct virtio_device *console_new(void (*output)(void *arg, const char *text, size_t len),
				  void *arg)
{
	struct console *c = calloc(1, sizeof(*c));
	int fd = c ? eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK) : -1;

	if (fd < 0 || virtio_init(&c->device, &console_ops, c, 0)) {
		if (fd >= 0)
			close(fd);
		free(c);
		return NULL;
	}
	c->typed_fd = fd;
	c->output = output;
	c->arg = arg;
	pthread_mutex_init(&c->lock, NULL);
	c->device.input[0] = (struct pollfd){fd, POLLIN, 0};
	return &c->device;
}

size_t console_type(struct virtio_device *d, const char *text, size_t len)
{
	struct console *c = d->dev;
	size_t room, n;

	pthread_mutex_lock(&c->lock);
	room = TYPED_MAX - c->ntyped;
	n = len < room ? len : room;
	memcpy(c->typed + c->ntyped, text, n);
	c->ntyped += n;
	pthread_mutex_unlock(&c->lock);
	eventfd_write(c->typed_fd, 1);
	return n;
}
