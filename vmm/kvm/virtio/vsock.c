// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * vsock.c - streams between programs in the guest and sockets of the host's: packets, and who may
 * send how much.
 *
 * Each stream has room for what its guest may send before it is told that some of it is gone; a
 * guest that sends more, or anything else that no driver does, loses its connection.
 */
#include "vmm/kvm/virtio/vsock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define PCI_OTHER 0x078000 /* a communication controller of no kind that PCI knows */
#define HOST_CID  2u
#define GUEST_CID 3u /* the first that a guest may have; there is no other guest here */

enum { RX, TX, EVENT, NR_QUEUES };

/* 5.10.6 of the specification. */
enum { TYPE_STREAM = 1 };
enum {
	OP_REQUEST = 1,
	OP_RESPONSE = 2,
	OP_RST = 3,
	OP_SHUTDOWN = 4,
	OP_RW = 5,
	OP_CREDIT_UPDATE = 6,
	OP_CREDIT_REQUEST = 7,
};
enum { NO_MORE_RECEIVED = 1, NO_MORE_SENT = 2 };

/* Of one direction at a time, before the other has its turn. */
#define PACKETS_MAX 64u
/* What a guest may have under way, and what is sent to it at a time. */
#define ROOM 65536u

struct packet { /* its header */
	uint64_t src_cid, dst_cid;
	uint32_t src_port, dst_port, len;
	uint16_t type, op;
	uint32_t flags, buf_alloc, fwd_cnt;
} __attribute__((packed));

enum state { WAITING, CONNECTED, ENDED };

struct stream {
	enum state state;
	int fd; /* -1 once it has ended */
	uint32_t port, guest_port;
	unsigned int owed; /* to the guest: a bit for each operation */
	bool fd_ended;	   /* nothing comes from it any more, and the guest is told so */
	bool guest_ended;  /* it sends nothing any more, */
	bool guest_gone;   /* nor does it receive anything */
	/* What the guest has room for, has taken, and was sent; what has gone to fd, and which of
	 * that it knows of. All of them wrap around. */
	uint32_t peer_alloc, peer_taken, sent, taken, told;
	uint8_t in[ROOM]; /* the guest's, on its way to fd */
	size_t in_from, in_to;
};

struct vsock {
	struct virtio_device device;
	struct stream *stream;
	unsigned int n;
	bool full;	       /* the driver has no buffers for us, for now */
	bool refuses;	       /* an answer to a packet that belongs to no stream waits: */
	struct packet refused; /* that one */
	struct virtq_chain chain;
	uint8_t bytes[ROOM];
};

static void owe(struct stream *s, unsigned int op)
{
	s->owed |= 1u << op;
}

/* --- sockets --------------------------------------------------------------------------------- */

static void end_stream(struct stream *s)
{
	s->state = ENDED;
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
	s->in_from = s->in_to = 0;
}

/* It ends here, and the guest is told. */
static void reset_stream(struct stream *s)
{
	end_stream(s);
	s->owed = 0;
	owe(s, OP_RST);
}

/* What the guest has sent goes on, as far as there is room. */
static void flush(struct stream *s)
{
	while (s->in_from < s->in_to) {
		ssize_t done = write(s->fd, s->in + s->in_from, s->in_to - s->in_from);

		if (done < 0 && errno == EAGAIN)
			return;
		if (done < 0 && errno != EINTR) {
			reset_stream(s); /* nobody reads it any more */
			return;
		}
		if (done > 0) {
			s->in_from += (size_t)done;
			s->taken += (uint32_t)done;
		}
	}
	/* It waits for that when it has used up half of its room. */
	if (s->taken - s->told >= ROOM / 2)
		owe(s, OP_CREDIT_UPDATE);
	if (s->guest_gone)
		reset_stream(s);
	else if (s->guest_ended)
		shutdown(s->fd, SHUT_WR);
}

static uint32_t credit_of(const struct stream *s)
{
	uint32_t under_way = s->sent - s->peer_taken;

	return under_way < s->peer_alloc ? s->peer_alloc - under_way : 0;
}

/* What the thread is to wait for: not for what it can do nothing about. */
static void wait_for_sockets(struct vsock *v)
{
	for (unsigned int i = 0; i < v->n; i++) {
		const struct stream *s = &v->stream[i];
		bool reads = s->state == CONNECTED && !s->fd_ended && credit_of(s) && !v->full;
		bool writes = s->state == CONNECTED && s->in_from < s->in_to;

		v->device.input[i] = (struct pollfd){
			.fd = reads || writes ? s->fd : -1,
			.events = (short)((reads ? POLLIN : 0) | (writes ? POLLOUT : 0)),
		};
	}
}

/* --- to the guest ---------------------------------------------------------------------------- */

/* Into v->chain, with len bytes of v->bytes, and the driver has it. */
static void put_packet(struct vsock *v, struct packet *p)
{
	p->src_cid = HOST_CID;
	p->dst_cid = GUEST_CID;
	p->type = TYPE_STREAM;
	virtq_put(&v->chain, 0, p, sizeof(*p));
	virtq_put(&v->chain, sizeof(*p), v->bytes, p->len);
	virtio_push(&v->device, RX, v->chain.head, (uint32_t)sizeof(*p) + p->len);
}

static void put_of_stream(struct vsock *v, struct stream *s, unsigned int op, uint32_t len)
{
	struct packet p = {.src_port = s->port,
			   .dst_port = s->guest_port,
			   .len = len,
			   .op = (uint16_t)op,
			   .flags = op == OP_SHUTDOWN ? NO_MORE_SENT : 0,
			   .buf_alloc = ROOM,
			   .fwd_cnt = s->taken};

	s->told = s->taken;
	s->sent += len;
	put_packet(v, &p);
}

/* A buffer of the driver's. False: there is none, for now. */
static bool get_buffer(struct vsock *v)
{
	v->full = !virtio_pop(&v->device, RX, &v->chain);
	if (!v->full && v->chain.in_len < sizeof(struct packet)) {
		virtio_broken(&v->device);
		v->full = true;
	}
	return !v->full;
}

/* Bytes from the socket into a buffer. False: there are none. */
static bool send_bytes(struct vsock *v, struct stream *s)
{
	size_t room = v->chain.in_len - sizeof(struct packet), len = credit_of(s);
	ssize_t got;

	if (!room)
		v->full = true; /* not again before there is another one */
	if (len > room)
		len = room;
	if (len > ROOM)
		len = ROOM;
	if (!len)
		return false;
	got = read(s->fd, v->bytes, len);
	if (got > 0) {
		put_of_stream(v, s, OP_RW, (uint32_t)got);
		return true;
	}
	if (!got || (errno != EAGAIN && errno != EINTR)) {
		s->fd_ended = true;
		owe(s, OP_SHUTDOWN);
	}
	return false;
}

/* One packet, if there is anything to say. */
static bool send_packet(struct vsock *v, struct stream *s)
{
	bool reads = s->state == CONNECTED && !s->fd_ended && credit_of(s);

	if ((!s->owed && !reads) || !get_buffer(v))
		return false;
	if (!s->owed && send_bytes(v, s))
		return true;
	if (s->owed) {
		unsigned int op = (unsigned int)__builtin_ctz(s->owed);

		s->owed &= s->owed - 1;
		put_of_stream(v, s, op, 0);
		return true;
	}
	virtio_unpop(&v->device, RX, 1);
	return false;
}

/* To whom no stream is there for. */
static bool send_refusal(struct vsock *v)
{
	struct packet p = {
		.src_port = v->refused.dst_port, .dst_port = v->refused.src_port, .op = OP_RST};

	if (!v->refuses || !get_buffer(v))
		return false;
	put_packet(v, &p);
	v->refuses = false;
	return true;
}

static void send_all(struct vsock *v)
{
	bool more = true;

	for (unsigned int i = 0; i < PACKETS_MAX && more; i++) {
		more = send_refusal(v);
		for (unsigned int k = 0; k < v->n; k++)
			more |= send_packet(v, &v->stream[k]);
	}
	if (more)
		virtio_kick(&v->device, RX);
}

/* --- from the guest -------------------------------------------------------------------------- */

static struct stream *find(struct vsock *v, const struct packet *p)
{
	for (unsigned int i = 0; i < v->n; i++) {
		struct stream *s = &v->stream[i];

		if (s->port == p->dst_port && s->guest_port == p->src_port && s->state == CONNECTED)
			return s;
	}
	return NULL;
}

/* The first that waits at this port. */
static struct stream *connect_to(struct vsock *v, const struct packet *p)
{
	for (unsigned int i = 0; i < v->n; i++) {
		struct stream *s = &v->stream[i];

		if (s->port != p->dst_port || s->state != WAITING)
			continue;
		s->state = CONNECTED;
		s->guest_port = p->src_port;
		owe(s, OP_RESPONSE);
		return s;
	}
	return NULL;
}

/* The bytes of a packet, behind its header in v->chain. */
static void take_bytes(struct vsock *v, struct stream *s, uint32_t len)
{
	size_t have = s->in_to - s->in_from;

	if (s->guest_ended || len > ROOM - have) {
		reset_stream(s);
		return;
	}
	if (len > ROOM - s->in_to) {
		memmove(s->in, s->in + s->in_from, have);
		s->in_from = 0;
		s->in_to = have;
	}
	if (!virtq_take(&v->chain, s->in + s->in_to, len)) {
		reset_stream(s);
		return;
	}
	s->in_to += len;
	flush(s);
}

static void take_shutdown(struct stream *s, uint32_t flags)
{
	s->guest_ended |= flags & NO_MORE_SENT;
	s->guest_gone |= (flags & NO_MORE_RECEIVED) && s->guest_ended;
	flush(s);
}

/* What has arrived at a stream, whose guest also says how it is. */
static void take_packet(struct vsock *v, struct stream *s, const struct packet *p)
{
	s->peer_alloc = p->buf_alloc;
	s->peer_taken = p->fwd_cnt;
	switch (p->op) {
	case OP_REQUEST: /* it has just been answered, or is one too many */
		if (!(s->owed & 1u << OP_RESPONSE))
			reset_stream(s);
		break;
	case OP_RW:
		take_bytes(v, s, p->len);
		break;
	case OP_SHUTDOWN:
		take_shutdown(s, p->flags);
		break;
	case OP_CREDIT_REQUEST:
		owe(s, OP_CREDIT_UPDATE);
		break;
	case OP_CREDIT_UPDATE:
		break;
	case OP_RST:
		s->owed = 0;
		/* It does not wait for ever until what it has sent is taken. */
		if (s->guest_ended && s->in_from < s->in_to)
			s->guest_gone = true;
		else
			end_stream(s);
		break;
	default:
		reset_stream(s);
	}
}

static void receive(struct vsock *v, const struct packet *p)
{
	struct stream *s = NULL;

	if (p->src_cid != GUEST_CID)
		return; /* no answer would arrive */
	if (p->dst_cid == HOST_CID && p->type == TYPE_STREAM) {
		s = find(v, p);
		if (!s && p->op == OP_REQUEST)
			s = connect_to(v, p);
	}
	if (s) {
		take_packet(v, s, p);
	} else if (p->op != OP_RST) {
		v->refused = *p;
		v->refuses = true;
	}
}

/* Until there is an answer that has to wait: who does not take answers sends no more. */
static void receive_all(struct vsock *v)
{
	struct packet p;

	for (unsigned int i = 0; i < PACKETS_MAX; i++) {
		if (v->refuses || !virtio_pop(&v->device, TX, &v->chain))
			return;
		if (!virtq_take(&v->chain, &p, sizeof(p))) {
			virtio_broken(&v->device);
			return;
		}
		receive(v, &p);
		virtio_push(&v->device, TX, v->chain.head, 0);
	}
	virtio_kick(&v->device, TX);
}

/* --- the device ------------------------------------------------------------------------------ */

static void work(struct vsock *v)
{
	if (v->device.queue[TX].enabled)
		receive_all(v);
	if (v->device.queue[RX].enabled) {
		bool refused = v->refuses;

		send_all(v);
		if (refused && !v->refuses)
			virtio_kick(&v->device, TX);
	}
	wait_for_sockets(v);
}

/* Nothing is ever said by the queue of events: that would be that the guest has been moved. */
static void vsock_serve(void *dev, unsigned int queue)
{
	if (queue != EVENT)
		work(dev);
}

static void vsock_input(void *dev, unsigned int which)
{
	struct vsock *v = dev;

	if (v->stream[which].state == CONNECTED)
		flush(&v->stream[which]);
	work(v);
}

/* Connections of a driver that begins anew are no more. */
static void vsock_reset(void *dev)
{
	struct vsock *v = dev;

	for (unsigned int i = 0; i < v->n; i++) {
		v->stream[i].owed = 0;
		if (v->stream[i].state == CONNECTED)
			end_stream(&v->stream[i]);
	}
	v->refuses = v->full = false;
	wait_for_sockets(v);
}

static void vsock_read_config(void *dev, uint32_t off, void *to, size_t len)
{
	const uint64_t cid = GUEST_CID;

	(void)dev;
	if (off < sizeof(cid))
		memcpy(to, (const uint8_t *)&cid + off,
		       len < sizeof(cid) - off ? len : sizeof(cid) - off);
}

static void vsock_free(void *dev)
{
	struct vsock *v = dev;

	for (unsigned int i = 0; i < v->n; i++)
		end_stream(&v->stream[i]);
	free(v->stream);
	free(v);
}

static const struct virtio_ops vsock_ops = {
	.thread = "virtio-vsock",
	.id = 19,
	.pci_class = PCI_OTHER,
	.nqueues = NR_QUEUES,
	.read_config = vsock_read_config,
	.serve = vsock_serve,
	.reset = vsock_reset,
	.input = vsock_input,
	.free = vsock_free,
};

static bool take_sockets(struct vsock *v, const struct machine_stream *stream, size_t n)
{
	v->stream = calloc(n, sizeof(*v->stream));
	while (v->stream && v->n < n) {
		struct stream *s = &v->stream[v->n];

		s->port = stream[v->n].port;
		s->fd = fcntl(stream[v->n].fd, F_DUPFD_CLOEXEC, 0);
		if (s->fd < 0)
			return false;
		v->n++;
		if (fcntl(s->fd, F_SETFL, O_NONBLOCK))
			return false;
	}
	return v->stream;
}

struct virtio_device *vsock_new(const struct machine_stream *stream, size_t n)
{
	struct vsock *v = n <= VIRTIO_INPUTS_MAX ? calloc(1, sizeof(*v)) : NULL;

	if (!v)
		return NULL;
	if (take_sockets(v, stream, n) && !virtio_init(&v->device, &vsock_ops, v, 0)) {
		wait_for_sockets(v);
		return &v->device;
	}
	vsock_free(v);
	return NULL;
}
