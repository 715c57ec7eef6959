// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fuzz-virtio-fs.c - what a guest does to its file system device, while who serves its queues says
 * what makes no sense, and goes. Whatever they do, a reset comes to an end, and then the driver's
 * queues are served, or what it asks for is refused.
 */
#include <stdint.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/fuzz/virtio-steps.h"
#include "tests/unit/vhost-back-end.h"
#include "vmm/kvm/virtio/fs.h"

#define REQUESTS 1

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Not that it says nothing at all, which takes seconds. */
static void any_lie(struct back_end *b, struct input *in)
{
	uint8_t at = input_byte(in);

	back_end_lie(b, at % 20, (enum lie)(input_byte(in) % SILENT));
}

/* What the back-end does unasked. */
static void back_step(struct back_end *b, struct input *in)
{
	uint8_t what = input_byte(in);
	struct back_queue *q = &b->queue[what & 1];

	pthread_mutex_lock(&b->lock);
	if (what < 200 && q->call >= 0)
		eventfd_write(q->call, 1);
	else if (what < 240)
		b->done = what & 2 ? input_u16(in) : UINT32_MAX;
	else
		send(b->fd, &what, 1, MSG_NOSIGNAL);
	pthread_mutex_unlock(&b->lock);
}

static void step(struct driver *v, struct back_end *b, struct input *in)
{
	uint8_t what = input_byte(in);

	switch (what % 16) {
	case 6:
		any_lie(b, in);
		break;
	case 7:
		virtio_hold(v->d);
		virtio_release(v->d);
		break;
	case 14:
		back_step(b, in);
		break;
	case 15:
		driver_begin(v, QUEUES);
		break;
	default:
		any_step(v, what >> 3 & 1, what, in);
	}
}

static bool is_served(struct back_end *b)
{
	bool all;

	pthread_mutex_lock(&b->lock);
	all = b->queue[0].running && b->queue[1].running;
	pthread_mutex_unlock(&b->lock);
	return all;
}

static void ask(struct driver *v)
{
	set_desc(v, REQUESTS, 0, (struct test_desc){DATA, 48, NEXT, 1});
	set_desc(v, REQUESTS, 1, (struct test_desc){DATA + 48, 16, WRITE, 0});
	add_chain(v, REQUESTS, 0);
	kick(v, REQUESTS);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct share_memory ram = {.pa = RAM_START, .size = RAM_SIZE, .fd = STDERR_FILENO};
	struct input in = {data, size};
	struct back_end back = {.fd = -1};
	struct fs_config cfg = {.tag = "fuzz", .path = "/"};
	struct driver v;
	char err[128];
	int ends[2];

	back.lies_at = input_byte(&in);
	back.lie = (enum lie)(input_byte(&in) % SILENT);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) ||
	    !back_end_start(&back, ends[0]))
		abort();
	cfg.share = share_connect(ends[1], &ram, 1, err, sizeof(err));
	if (cfg.share) {
		if (!driver_init(&v, fs_new(&cfg)))
			abort();
		while (in.size)
			step(&v, &back, &in);
		reset(&v);
		driver_begin(&v, QUEUES);
		ask(&v);
		while (!is_served(&back) && !used_index(&v, REQUESTS))
			sched_yield();
		reset(&v);
		driver_exit(&v);
	}
	back_end_stop(&back);
	return 0;
}
