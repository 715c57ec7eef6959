// SPDX-License-Identifier: GPL-2.0-or-later
/* test-net.c - a network card between its driver and a link, whose other end the test has. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/test-link.h"
#include "tests/unit/virtio-driver.h"
#include "vmm/kvm/virtio/net.h"

#define QUEUES	(VIRTIO_F_VERSION_1 | VIRTIO_F_EVENT_IDX | VIRTIO_F_INDIRECT_DESC)
#define MERGE	(UINT64_C(1) << 15)
#define OFFERED (QUEUES | 1u << 3 | 1u << 5 | MERGE | 1u << 16)

enum { RX, TX };

#define HEAD	12u
#define RX_DATA DATA
#define TX_DATA (DATA + 0x40000u)

struct card {
	struct driver v; /* first */
	struct test_link *link;
	char warned[128];
	unsigned int warnings;
};

static void on_warn(void *arg, const char *text)
{
	struct card *c = arg;

	c->warnings++;
	snprintf(c->warned, sizeof(c->warned), "%s", text);
}

static int setup(void **state)
{
	struct card *c = calloc(1, sizeof(*c));
	struct net_config cfg = {.mac = {2, 3, 4, 5, 6, 7}, .warn = on_warn, .arg = c};
	struct virtio_device *d;

	assert_non_null(c);
	c->link = test_link_new();
	assert_non_null(c->link);
	cfg.link = &c->link->link;
	d = net_new(&cfg);
	assert_non_null(d);
	assert_true(driver_init(&c->v, d));
	*state = c;
	return 0;
}

static int teardown(void **state)
{
	struct card *c = *state;
	int peer = c->link->peer;

	driver_exit(&c->v);
	if (peer >= 0)
		close(peer);
	free(c);
	return 0;
}

static void fill(uint8_t *frame, size_t len, unsigned int seed)
{
	for (size_t i = 0; i < len; i++)
		frame[i] = (uint8_t)(seed + i * 7 + i / 256);
}

/* A frame of the guest's, of two buffers behind its header. */
static void guest_sends(struct card *c, uint32_t len, unsigned int seed)
{
	uint8_t *ram = at(&c->v, TX_DATA);

	memset(ram, 0, HEAD);
	fill(ram + HEAD, len, seed);
	set_desc(&c->v, TX, 0, (struct test_desc){TX_DATA, HEAD + 5, NEXT, 1});
	set_desc(&c->v, TX, 1, (struct test_desc){TX_DATA + HEAD + 5, len - 5, 0, 0});
	add_chain(&c->v, TX, 0);
	kick(&c->v, TX);
}

static void peer_gets(struct card *c, uint32_t len, unsigned int seed)
{
	uint8_t *got = malloc(65536), *want = malloc(65536);

	assert_int_equal(test_link_get(c->link, got, 65536), len);
	fill(want, len, seed);
	assert_memory_equal(got, want, len);
	free(got);
	free(want);
}

static void peer_sends(struct card *c, uint32_t len, unsigned int seed)
{
	uint8_t *frame = malloc(65536);

	fill(frame, len, seed);
	test_link_put(c->link, frame, len);
	free(frame);
}

/* Buffer number i of the driver's, for what it gets. */
static void add_buffer(struct card *c, uint16_t i, uint32_t len)
{
	set_desc(&c->v, RX, i, (struct test_desc){RX_DATA + 0x4000u * i, len, WRITE, 0});
	add_chain(&c->v, RX, i);
	kick(&c->v, RX);
}

/* The next frame, which is in as many buffers as this: all of them have come at once. */
static void guest_gets(struct card *c, uint32_t len, unsigned int seed, uint16_t buffers)
{
	uint8_t *got = malloc(0x10000 + HEAD), *want = malloc(65536);
	uint32_t n = 0, part, i;
	uint16_t count;

	for (uint16_t k = 0; k < buffers; k++) {
		i = wait_used(&c->v, RX, &part);
		if (!k)
			assert_true((uint16_t)(used_index(&c->v, RX) - c->v.seen[RX]) >=
				    buffers - 1);
		memcpy(got + n, at(&c->v, RX_DATA + 0x4000u * i), part);
		n += part;
	}
	assert_int_equal(n, HEAD + len);
	memcpy(&count, got + 10, 2);
	assert_int_equal(count, buffers);
	assert_memory_equal(got, "\0\0\0\0\0\0\0\0\0", 10);
	fill(want, len, seed);
	assert_memory_equal(got + HEAD, want, len);
	free(got);
	free(want);
}

static void test_configuration(void **state)
{
	struct card *c = *state;

	assert_true(offered(&c->v) == OFFERED);
	assert_int_equal(reg_get(&c->v, 0x2000, 4), 0x05040302);
	assert_int_equal(reg_get(&c->v, 0x2004, 2), 0x0706);
	assert_int_equal(reg_get(&c->v, 0x2006, 2), 1); /* the link is up */
	assert_int_equal(reg_get(&c->v, 0x200a, 2), TEST_LINK_MTU);
	assert_int_equal(reg_get(&c->v, 0x200c, 4), 0);
	assert_int_equal(reg_get(&c->v, 0x2800, 4), 0);
}

static void test_both_ways(void **state)
{
	struct card *c = *state;

	driver_begin(&c->v, OFFERED);
	for (unsigned int i = 0; i < 100; i++) {
		guest_sends(c, 60 + 13 * i, i);
		assert_int_equal(wait_used(&c->v, TX, NULL), 0);
		peer_gets(c, 60 + 13 * i, i);
		add_buffer(c, i % QUEUE_SIZE, 0x4000);
		peer_sends(c, 14 + 11 * i, i);
		guest_gets(c, 14 + 11 * i, i, 1);
	}
}

static void test_longest_frames(void **state)
{
	struct card *c = *state;

	driver_begin(&c->v, OFFERED);
	guest_sends(c, LINK_FRAME_MAX, 1);
	peer_gets(c, LINK_FRAME_MAX, 1);
	for (uint16_t i = 0; i < 5; i++)
		add_buffer(c, i, 0x4000);
	peer_sends(c, LINK_FRAME_MAX, 2);
	guest_gets(c, LINK_FRAME_MAX, 2, 5);
}

/* A frame stays as long as there are too few buffers; it takes no more than it needs. */
static void test_waits_for_buffers(void **state)
{
	struct card *c = *state;

	driver_begin(&c->v, OFFERED);
	peer_sends(c, 300, 1);
	peer_sends(c, 20, 2);
	for (uint16_t i = 0; i < 3; i++) {
		add_buffer(c, i, 100);
		virtio_hold(c->v.d); /* it has looked at that */
		virtio_release(c->v.d);
		assert_int_equal(used_index(&c->v, RX), 0);
	}
	add_buffer(c, 3, 100);
	guest_gets(c, 300, 1, 4);
	assert_int_equal(used_index(&c->v, RX), 4);
	add_buffer(c, 4, 32);
	guest_gets(c, 20, 2, 1);
}

/* The frame follows, and no second header. */
static void test_header_alone(void **state)
{
	struct card *c = *state;

	driver_begin(&c->v, OFFERED);
	for (uint16_t i = 0; i < 3; i++)
		add_buffer(c, i, i == 1 ? 0x4000 : HEAD);
	peer_sends(c, 300, 1);
	guest_gets(c, 300, 1, 2);
	add_buffer(c, 3, HEAD + 20);
	peer_sends(c, 20, 2);
	guest_gets(c, 20, 2, 2);
}

/* What can never be in the driver's buffers is lost, and the next one is not. */
static void test_frame_too_long_for_the_queue(void **state)
{
	struct card *c = *state;

	driver_begin(&c->v, OFFERED);
	for (uint16_t i = 0; i < QUEUE_SIZE; i++)
		add_buffer(c, i, 100);
	peer_sends(c, 100 * QUEUE_SIZE, 1);
	peer_sends(c, 88, 2);
	guest_gets(c, 88, 2, 1);
}

static void test_driver_that_merges_none(void **state)
{
	struct card *c = *state;

	driver_begin(&c->v, OFFERED & ~MERGE);
	add_buffer(c, 0, 1526);
	add_buffer(c, 1, 1526);
	peer_sends(c, 1515, 1); /* lost */
	peer_sends(c, 1514, 2);
	peer_sends(c, 60, 3);
	guest_gets(c, 1514, 2, 1);
	guest_gets(c, 60, 3, 1);
}

/* Nobody reads at the other end: the guest's frames wait, and none is lost or cut. */
static void test_peer_that_does_not_read(void **state)
{
	struct card *c = *state;
	unsigned int sent = 0;
	int there;

	driver_begin(&c->v, OFFERED);
	do {
		guest_sends(c, 9000, sent++);
		wait_used(&c->v, TX, NULL);
		assert_int_equal(ioctl(c->link->peer, FIONREAD, &there), 0);
	} while ((unsigned int)there == sent * 9004);
	guest_sends(c, 9000, sent); /* the one before is half there */
	virtio_hold(c->v.d);
	assert_int_equal(used_index(&c->v, TX), sent);
	virtio_release(c->v.d);
	for (unsigned int i = 0; i <= sent; i++)
		peer_gets(c, 9000, i);
	wait_used(&c->v, TX, NULL);
	add_buffer(c, 0, 100); /* and the other way goes on */
	peer_sends(c, 60, 5);
	guest_gets(c, 60, 5, 1);
}

static void test_no_frames(void **state)
{
	struct card *c = *state;

	driver_begin(&c->v, OFFERED);
	guest_sends(c, LINK_FRAME_MIN - 1, 1);
	wait_used(&c->v, TX, NULL);
	guest_sends(c, LINK_FRAME_MAX + 1, 2);
	wait_used(&c->v, TX, NULL);
	guest_sends(c, 60, 3);
	peer_gets(c, 60, 3);
}

static void test_broken_chains(void **state)
{
	struct card *c = *state;

	driver_begin(&c->v, OFFERED);
	set_desc(&c->v, TX, 0, (struct test_desc){TX_DATA, HEAD - 1, 0, 0});
	add_chain(&c->v, TX, 0);
	kick(&c->v, TX);
	wait_status(&c->v, 64);
	driver_begin(&c->v, OFFERED);
	add_buffer(c, 0, HEAD - 1);
	peer_sends(c, 60, 1);
	wait_status(&c->v, 64);
	driver_begin(&c->v, OFFERED); /* that frame is gone with what the driver has broken */
	add_buffer(c, 0, 100);
	peer_sends(c, 61, 2);
	guest_gets(c, 61, 2, 1);
}

static void test_link_that_ends(void **state)
{
	struct card *c = *state;

	driver_begin(&c->v, OFFERED);
	close(c->link->peer);
	c->link->peer = -1;
	while (reg_get(&c->v, 0x2006, 2))
		sched_yield();
	guest_sends(c, 60, 1); /* into the void */
	assert_int_equal(wait_used(&c->v, TX, NULL), 0);
	assert_int_equal(c->warnings, 1);
	assert_string_equal(c->warned, "the guest's network has ended: Broken pipe");
	driver_begin(&c->v, OFFERED);
	assert_int_equal(reg_get(&c->v, 0x2006, 2), 0);
}

/* Frames that come before there is a driver, or a queue for them. */
static void test_nobody_receives(void **state)
{
	struct card *c = *state;

	peer_sends(c, 60, 1);
	reg_put(&c->v, 0x14, 1, 3);
	accept_features(&c->v, OFFERED);
	reg_put(&c->v, 0x14, 1, 15); /* without queues */
	virtio_hold(c->v.d);
	virtio_release(c->v.d);
	driver_begin(&c->v, OFFERED);
	add_buffer(c, 0, 100);
	guest_gets(c, 60, 1, 1);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_configuration),
		TEST(test_both_ways),
		TEST(test_longest_frames),
		TEST(test_waits_for_buffers),
		TEST(test_header_alone),
		TEST(test_frame_too_long_for_the_queue),
		TEST(test_driver_that_merges_none),
		TEST(test_peer_that_does_not_read),
		TEST(test_no_frames),
		TEST(test_broken_chains),
		TEST(test_link_that_ends),
		TEST(test_nobody_receives),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
