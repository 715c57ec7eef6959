// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fuzz-virtio-vsock.c - what a guest does to its socket device, while who has the other ends of the
 * streams reads, writes and goes. Whatever they do, a reset comes to an end, and it answers again.
 */
#include <stdint.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/fuzz/virtio-steps.h"
#include "vmm/kvm/virtio/vsock.h"

#define STREAMS 2u
#define HEAD	44u

enum { RX, TX };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct packet {
	uint64_t src_cid, dst_cid;
	uint32_t src_port, dst_port, len;
	uint16_t type, op;
	uint32_t flags, buf_alloc, fwd_cnt;
} __attribute__((packed));

static void send_packet(struct driver *v, uint16_t i, const struct packet *p, uint32_t bytes)
{
	memcpy(at(v, DATA + 0x100u * i), p, sizeof(*p));
	set_desc(v, TX, i,
		 (struct test_desc){DATA + 0x100u * i, HEAD, bytes ? NEXT : 0, (uint16_t)(i + 1)});
	set_desc(v, TX, i + 1u, (struct test_desc){DATA + 0x20000, bytes, 0, 0});
	add_chain(v, TX, i);
	kick(v, TX);
}

/* As drivers make it, mostly. */
static void any_packet(struct driver *v, struct input *in)
{
	uint8_t how = input_byte(in);
	uint16_t len = input_u16(in);
	struct packet p = {.src_cid = how & 1 ? 3 : input_byte(in),
			   .dst_cid = 2,
			   .src_port = input_byte(in) % 3,
			   .dst_port = input_byte(in) % 3,
			   .len = how & 2 ? len : input_u16(in),
			   .type = how & 4 ? 1 : input_byte(in),
			   .op = input_byte(in) % 9,
			   .flags = input_byte(in),
			   .buf_alloc = how & 8 ? 65536 : (uint32_t)input_u64(in),
			   .fwd_cnt = how & 16 ? 0 : (uint32_t)input_u64(in)};

	send_packet(v, input_byte(in) % (QUEUE_SIZE - 1), &p, len);
}

static void any_buffer(struct driver *v, struct input *in)
{
	uint16_t i = input_byte(in) % QUEUE_SIZE;

	set_desc(v, RX, i, (struct test_desc){DATA + 0x40000, HEAD + input_u16(in), WRITE, 0});
	add_chain(v, RX, i);
	kick(v, RX);
}

static void host_step(int fd, struct input *in)
{
	static uint8_t bytes[65536];
	uint8_t how = input_byte(in);

	if (how < 100)
		(void)!recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT);
	else if (how < 250)
		(void)!send(fd, bytes, how * 200u, MSG_DONTWAIT | MSG_NOSIGNAL);
	else
		shutdown(fd, how % 3);
}

static void step(struct driver *v, const int *host, struct input *in)
{
	uint8_t what = input_byte(in);

	switch (what % 16) {
	case 6:
	case 14:
		any_packet(v, in);
		break;
	case 7:
		any_buffer(v, in);
		break;
	case 15:
		host_step(host[what >> 7], in);
		break;
	default:
		any_step(v, what >> 3 & 1, what, in);
	}
}

/* It refuses who connects to where nobody is. */
static void check_works(struct driver *v)
{
	const struct packet p = {.src_cid = 3, .dst_cid = 2, .dst_port = 9, .type = 1, .op = 1};
	uint16_t op;

	driver_begin(v, QUEUES);
	set_desc(v, RX, 0, (struct test_desc){DATA + 0x40000, HEAD, WRITE, 0});
	add_chain(v, RX, 0);
	kick(v, RX);
	send_packet(v, 0, &p, 0);
	wait_used(v, RX, NULL);
	memcpy(&op, (uint8_t *)at(v, DATA + 0x40000) + 30, sizeof(op));
	if (op != 3)
		abort();
	reset(v);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct machine_stream streams[STREAMS];
	struct input in = {data, size};
	struct driver v;
	int host[STREAMS], ends[2];

	for (uint32_t i = 0; i < STREAMS; i++) {
		if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
			abort();
		host[i] = ends[0];
		streams[i] = (struct machine_stream){i, ends[1]};
	}
	if (!driver_init(&v, vsock_new(streams, STREAMS)))
		abort();
	for (unsigned int i = 0; i < STREAMS; i++)
		close(streams[i].fd);
	driver_begin(&v, QUEUES);
	while (in.size)
		step(&v, host, &in);
	reset(&v);
	check_works(&v);
	driver_exit(&v);
	for (unsigned int i = 0; i < STREAMS; i++)
		close(host[i]);
	return 0;
}
