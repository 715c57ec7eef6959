// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fuzz-virtio-net.c - what a guest does to its network card, and what comes from the other end of
 * the link at the same time: frames, and bytes that are none. Whatever they do, a reset comes to an
 * end, and a new link works with it.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/fuzz/virtio-steps.h"
#include "tests/unit/test-link.h"
#include "vmm/kvm/virtio/net.h"

#define FEATURES (QUEUES | UINT64_C(1) << 5 | UINT64_C(1) << 16)
#define MERGE	 (UINT64_C(1) << 15)
#define HEAD	 12u

enum { RX, TX };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The peer does not wait for a card that does not listen. */
static void any_bytes(struct test_link *t, struct input *in)
{
	uint8_t bytes[256];
	size_t n = input_byte(in);

	for (size_t i = 0; i < n; i++)
		bytes[i] = input_byte(in);
	if (send(t->peer, bytes, n, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
		return;
}

static void any_frame(struct test_link *t, struct input *in)
{
	static uint8_t frame[LINK_FRAME_MAX];
	uint16_t len = input_u16(in);
	uint32_t head = htonl(len);
	const struct iovec iov[] = {{&head, sizeof(head)}, {frame, len}};

	if (writev(t->peer, iov, 2) < 0)
		return;
}

static void drain(struct test_link *t)
{
	static uint8_t bytes[65536];

	while (recv(t->peer, bytes, sizeof(bytes), MSG_DONTWAIT) > 0)
		;
}

/* A frame as drivers make it: what it is in, and its header. */
static void any_buffers(struct driver *v, struct input *in)
{
	unsigned int queue = input_byte(in) & 1;
	uint16_t i = input_byte(in) % (QUEUE_SIZE - 1), how = input_u16(in);
	uint16_t flags = queue == RX ? WRITE : 0;

	set_desc(v, queue, i,
		 (struct test_desc){DATA + 0x1000u * i, HEAD + (how & 0xf), flags | NEXT,
				    (uint16_t)(i + 1)});
	set_desc(v, queue, i + 1u,
		 (struct test_desc){DATA + 0x10000, how & 0x4000 ? 65521 : how % 4096u, flags, 0});
	add_chain(v, queue, i);
	kick(v, queue);
}

static void step(struct driver *v, struct test_link *t, struct input *in)
{
	uint8_t what = input_byte(in);

	switch (what % 16) {
	case 6:
	case 14:
		any_buffers(v, in);
		break;
	case 7:
		any_frame(t, in);
		break;
	case 15:
		any_bytes(t, in);
		break;
	case 13:
		drain(t);
		break;
	default:
		any_step(v, what >> 3 & 1, what, in);
	}
}

/* A frame goes out, however the card was treated before; if the link has not ended, that is. */
static void check_works(struct driver *v)
{
	driver_begin(v, FEATURES);
	set_desc(v, TX, 0, (struct test_desc){DATA, HEAD + 60, 0, 0});
	add_chain(v, TX, 0);
	kick(v, TX);
	if (wait_used(v, TX, NULL))
		abort();
	reset(v);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct test_link *t = test_link_new();
	struct net_config cfg = {.mac = {2}, .link = &t->link};
	struct input in = {data, size};
	uint8_t how = input_byte(&in);
	struct driver v;
	int peer;

	if (!t || !driver_init(&v, net_new(&cfg)))
		abort();
	peer = t->peer;
	fcntl(peer, F_SETFL, O_NONBLOCK);
	signal(SIGPIPE, SIG_IGN);
	if (how & 0x80)
		driver_begin(&v, FEATURES | (how & 1 ? MERGE : 0));
	while (in.size)
		step(&v, t, &in);
	reset(&v);
	drain(t);
	close(peer);
	check_works(&v);
	driver_exit(&v);
	return 0;
}
