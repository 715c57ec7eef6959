// SPDX-License-Identifier: GPL-2.0-or-later
/* test-vsock.c - streams between a guest's driver and sockets of the host's. */
#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/virtio-driver.h"
#include "vmm/kvm/virtio/vsock.h"

#define QUEUES	(VIRTIO_F_VERSION_1 | VIRTIO_F_EVENT_IDX | VIRTIO_F_INDIRECT_DESC)
#define PORT	1024u
#define OWN	55555u /* the guest's own port */
#define HEAD	44u
#define RX_DATA DATA
#define TX_DATA (DATA + 0x60000u)
#define BUFFER	0x2000u

enum { RX, TX };
enum {
	REQUEST = 1,
	RESPONSE = 2,
	RST = 3,
	SHUTDOWN = 4,
	RW = 5,
	CREDIT_UPDATE = 6,
	CREDIT_REQUEST = 7
};

struct packet {
	uint64_t src_cid, dst_cid;
	uint32_t src_port, dst_port, len;
	uint16_t type, op;
	uint32_t flags, buf_alloc, fwd_cnt;
} __attribute__((packed));

struct guest {
	struct driver v; /* first */
	int host[2];	 /* the test's ends, of two streams at one port */
	struct packet got;
	uint8_t bytes[BUFFER];
	uint32_t room; /* that it says it has */
};

static int setup(void **state)
{
	struct guest *g = calloc(1, sizeof(*g));
	struct machine_stream streams[2];
	struct virtio_device *d;
	int ends[2];

	assert_non_null(g);
	for (unsigned int i = 0; i < 2; i++) {
		assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
		g->host[i] = ends[0];
		streams[i] = (struct machine_stream){PORT, ends[1]};
	}
	d = vsock_new(streams, 2);
	assert_non_null(d);
	for (unsigned int i = 0; i < 2; i++)
		close(streams[i].fd);
	g->room = 65536;
	assert_true(driver_init(&g->v, d));
	*state = g;
	return 0;
}

static int teardown(void **state)
{
	struct guest *g = *state;

	driver_exit(&g->v);
	close(g->host[0]);
	close(g->host[1]);
	free(g);
	return 0;
}

/* Buffer number i of the driver's, a header's and so much more. */
static void add_buffer_of(struct guest *g, uint16_t i, uint32_t room)
{
	uint64_t pa = RX_DATA + (uint64_t)(HEAD + BUFFER) * i;

	set_desc(&g->v, RX, i, (struct test_desc){pa, HEAD + room, WRITE, 0});
	add_chain(&g->v, RX, i);
	kick(&g->v, RX);
}

static void add_buffer(struct guest *g, uint16_t i)
{
	add_buffer_of(g, i, BUFFER);
}

static void begin(struct guest *g)
{
	driver_begin(&g->v, QUEUES);
	for (uint16_t i = 0; i < QUEUE_SIZE; i++)
		add_buffer(g, i);
}

static void send_to(struct guest *g, struct packet p, const void *bytes)
{
	p.src_cid = p.src_cid ? p.src_cid : 3;
	p.dst_cid = 2;
	p.type = p.type ? p.type : 1;
	p.buf_alloc = g->room;
	memcpy(at(&g->v, TX_DATA), &p, sizeof(p));
	if (p.len)
		memcpy((uint8_t *)at(&g->v, TX_DATA) + HEAD, bytes, p.len);
	set_desc(&g->v, TX, 0, (struct test_desc){TX_DATA, HEAD + p.len, 0, 0});
	add_chain(&g->v, TX, 0);
	kick(&g->v, TX);
	wait_used(&g->v, TX, NULL);
}

static void guest_sends(struct guest *g, uint16_t op, uint32_t flags, const char *text)
{
	send_to(g,
		(struct packet){.src_port = OWN,
				.dst_port = PORT,
				.op = op,
				.flags = flags,
				.len = text ? (uint32_t)strlen(text) : 0},
		text);
}

/* The next packet, of whatever kind; its buffer is the device's again. */
static uint16_t next_packet(struct guest *g)
{
	uint32_t len;
	uint16_t i = (uint16_t)wait_used(&g->v, RX, &len);
	const uint8_t *from = at(&g->v, RX_DATA + (uint64_t)(HEAD + BUFFER) * i);

	memcpy(&g->got, from, HEAD);
	assert_int_equal(len, HEAD + g->got.len);
	memcpy(g->bytes, from + HEAD, g->got.len);
	assert_int_equal(g->got.src_cid, 2);
	assert_int_equal(g->got.dst_cid, 3);
	assert_int_equal(g->got.type, 1);
	add_buffer(g, i);
	return g->got.op;
}

static void guest_gets(struct guest *g, uint16_t op)
{
	assert_int_equal(next_packet(g), op);
}

static void host_gets(struct guest *g, const char *text)
{
	char got[64] = "";

	assert_int_equal(recv(g->host[0], got, strlen(text), MSG_WAITALL), strlen(text));
	assert_string_equal(got, text);
}

static void assert_end(int fd)
{
	char byte;

	assert_int_equal(read(fd, &byte, 1), 0);
}

static void begin_connected(struct guest *g)
{
	begin(g);
	guest_sends(g, REQUEST, 0, NULL);
	guest_gets(g, RESPONSE);
	assert_int_equal(g->got.src_port, PORT);
	assert_int_equal(g->got.dst_port, OWN);
	assert_int_equal(g->got.buf_alloc, 65536);
}

static void test_both_ways(void **state)
{
	struct guest *g = *state;

	assert_int_equal(reg_get(&g->v, 0x2000, 4), 3);
	assert_int_equal(reg_get(&g->v, 0x2004, 4), 0);
	assert_int_equal(write(g->host[0], "early", 5), 5);
	begin_connected(g);
	guest_gets(g, RW);
	assert_int_equal(g->got.len, 5);
	assert_memory_equal(g->bytes, "early", 5);
	guest_sends(g, RW, 0, "hello");
	host_gets(g, "hello");
	guest_sends(g, CREDIT_REQUEST, 0, NULL);
	guest_gets(g, CREDIT_UPDATE);
	assert_int_equal(g->got.fwd_cnt, 5);
}

static void test_ends_of_the_guest(void **state)
{
	struct guest *g = *state;

	begin_connected(g);
	guest_sends(g, RW, 0, "last");
	guest_sends(g, SHUTDOWN, 2, NULL);
	host_gets(g, "last");
	assert_end(g->host[0]);
	assert_int_equal(write(g->host[0], "more", 4), 4); /* this way goes on */
	guest_gets(g, RW);
	assert_memory_equal(g->bytes, "more", 4);
	guest_sends(g, SHUTDOWN, 3, NULL);
	guest_gets(g, RST);
	assert_int_equal(send(g->host[0], "x", 1, MSG_NOSIGNAL), -1);
	guest_sends(g, RW, 0, "none"); /* it is no connection any more */
	guest_gets(g, RST);
}

static void test_ends_of_the_host(void **state)
{
	struct guest *g = *state;

	begin_connected(g);
	assert_int_equal(write(g->host[0], "last", 4), 4);
	shutdown(g->host[0], SHUT_WR);
	guest_gets(g, RW);
	guest_gets(g, SHUTDOWN);
	assert_int_equal(g->got.flags, 2);
	guest_sends(g, RW, 0, "answer");
	host_gets(g, "answer");
	close(g->host[0]);
	g->host[0] = dup(0);
	guest_sends(g, RW, 0, "nobody");
	guest_gets(g, RST);
}

/* Two wait at this port; the third and whoever comes to another one is refused. */
static void test_who_may_connect(void **state)
{
	struct guest *g = *state;

	begin_connected(g);
	for (uint32_t i = 1; i < 3; i++) {
		send_to(g, (struct packet){.src_port = OWN + i, .dst_port = PORT, .op = REQUEST},
			NULL);
		guest_gets(g, i == 1 ? RESPONSE : RST);
		assert_int_equal(g->got.dst_port, OWN + i);
	}
	send_to(g, (struct packet){.src_port = OWN, .dst_port = PORT + 1, .op = REQUEST}, NULL);
	guest_gets(g, RST);
	assert_int_equal(g->got.src_port, PORT + 1);
	send_to(g, (struct packet){.src_port = 9, .dst_port = 9, .op = RST}, NULL);
	send_to(g, (struct packet){.src_cid = 7, .src_port = 9, .dst_port = 9, .op = RW}, NULL);
	guest_sends(g, RW, 0, "hello"); /* neither has an answer */
	host_gets(g, "hello");
	guest_sends(g, REQUEST, 0, NULL);
	guest_gets(g, RST);
	assert_end(g->host[0]);
}

/* No more than the guest has room for, however much there is. */
static void test_credit_of_the_guest(void **state)
{
	struct guest *g = *state;
	static char much[40000];
	uint32_t n = 0;

	g->room = 10000;
	begin_connected(g);
	memset(much, 'm', sizeof(much));
	assert_int_equal(write(g->host[0], much, sizeof(much)), sizeof(much));
	while (n < 10000) {
		guest_gets(g, RW);
		n += g->got.len;
	}
	assert_int_equal(n, 10000);
	guest_sends(g, CREDIT_REQUEST, 0, NULL);
	guest_gets(g, CREDIT_UPDATE); /* and no bytes before it */
	send_to(g,
		(struct packet){
			.src_port = OWN, .dst_port = PORT, .op = CREDIT_UPDATE, .fwd_cnt = 4000},
		NULL);
	guest_gets(g, RW);
	assert_int_equal(g->got.len, 4000);
}

/* 8192 bytes. */
static const char *long_text(void)
{
	static char text[8193];

	memset(text, 't', sizeof(text) - 1);
	return text;
}

/* As long as there is room for it, and the host reads nothing: how much that was. */
static unsigned int fill_the_host(struct guest *g)
{
	unsigned int sent = 0;

	while (sent - g->got.fwd_cnt + 8192 <= g->got.buf_alloc) {
		guest_sends(g, RW, 0, long_text());
		sent += 8192;
		guest_sends(g, CREDIT_REQUEST, 0, NULL);
		guest_gets(g, CREDIT_UPDATE);
	}
	assert_true(sent - g->got.fwd_cnt > 0);
	return sent;
}

static void host_reads(struct guest *g, unsigned int len)
{
	char bytes[4096];
	unsigned int got = 0;
	ssize_t n = 1;

	for (; got < len && n > 0; got += (unsigned int)n)
		n = read(g->host[0], bytes, sizeof(bytes));
	assert_int_equal(got, len);
}

/* The host reads nothing: the guest is not told that there is more room, and must not send more. */
static void test_credit_of_the_host(void **state)
{
	struct guest *g = *state;
	unsigned int sent, got;

	begin_connected(g);
	got = sent = fill_the_host(g);
	host_reads(g, sent);
	do {
		guest_sends(g, CREDIT_REQUEST, 0, NULL);
		guest_gets(g, CREDIT_UPDATE);
	} while (g->got.fwd_cnt != sent);
	do { /* more than anybody has room for */
		guest_sends(g, RW, 0, long_text());
		sent += 8192;
		guest_sends(g, CREDIT_REQUEST, 0, NULL);
	} while (next_packet(g) == CREDIT_UPDATE);
	assert_int_equal(g->got.op, RST);
	assert_in_range(sent - got, 65536, 1 << 20);
}

/* As Linux does some seconds after its end: the host gets what was sent before. */
static void test_reset_behind_the_last(void **state)
{
	struct guest *g = *state;
	unsigned int sent;

	begin_connected(g);
	sent = fill_the_host(g);
	guest_sends(g, SHUTDOWN, 2, NULL);
	guest_sends(g, RST, 0, NULL);
	host_reads(g, sent);
	assert_end(g->host[0]);
}

/* A buffer for a header alone is for packets that are no more than that. */
static void test_header_alone(void **state)
{
	struct guest *g = *state;

	driver_begin(&g->v, QUEUES);
	add_buffer_of(g, 0, 0);
	add_buffer_of(g, 1, 0);
	guest_sends(g, REQUEST, 0, NULL);
	assert_int_equal(wait_used(&g->v, RX, NULL), 0);
	assert_int_equal(write(g->host[0], "bytes", 5), 5);
	virtio_hold(g->v.d); /* it has looked at that */
	virtio_release(g->v.d);
	guest_sends(g, CREDIT_REQUEST, 0, NULL);
	assert_int_equal(wait_used(&g->v, RX, NULL), 1);
	add_buffer(g, 2);
	guest_gets(g, RW);
	assert_memory_equal(g->bytes, "bytes", 5);
}

static void test_broken_packets(void **state)
{
	struct guest *g = *state;

	begin(g);
	set_desc(&g->v, TX, 0, (struct test_desc){TX_DATA, HEAD - 1, 0, 0});
	add_chain(&g->v, TX, 0);
	kick(&g->v, TX);
	wait_status(&g->v, 64);
	begin_connected(g);
	guest_sends(g, 99, 0, NULL);
	guest_gets(g, RST);
	assert_end(g->host[0]);
	g->got.len = 0;
	send_to(g, (struct packet){.src_port = OWN, .dst_port = PORT, .type = 2, .op = REQUEST},
		NULL);
	guest_gets(g, RST); /* no stream */
	guest_sends(g, REQUEST, 0, NULL);
	guest_gets(g, RESPONSE);
	reg_put(&g->v, 0x14, 1, 0);
	assert_end(g->host[1]); /* with the driver */
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_both_ways),
		TEST(test_ends_of_the_guest),
		TEST(test_ends_of_the_host),
		TEST(test_who_may_connect),
		TEST(test_credit_of_the_guest),
		TEST(test_credit_of_the_host),
		TEST(test_reset_behind_the_last),
		TEST(test_header_alone),
		TEST(test_broken_packets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
