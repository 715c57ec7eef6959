// SPDX-License-Identifier: GPL-2.0-or-later
/* test-console.c - a console between its driver and the test, which reads it and types. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/virtio-driver.h"
#include "vmm/kvm/virtio/console.h"

#define QUEUES	(VIRTIO_F_VERSION_1 | VIRTIO_F_EVENT_IDX | VIRTIO_F_INDIRECT_DESC)
#define RX_DATA DATA
#define TX_DATA (DATA + 0x40000u)

enum { RX, TX };
enum { NEEDS_RESET = 64 };

struct terminal {
	struct driver v; /* first */
	char text[0x20000];
	size_t len;
};

/* On the device's thread, and before the chain is given back. */
static void on_output(void *arg, const char *text, size_t len)
{
	struct terminal *t = arg;

	assert_true(len <= sizeof(t->text) - t->len);
	memcpy(t->text + t->len, text, len);
	t->len += len;
}

static int setup(void **state)
{
	struct terminal *t = calloc(1, sizeof(*t));
	struct virtio_device *d = console_new(on_output, t);

	assert_true(t && d && driver_init(&t->v, d));
	*state = t;
	return 0;
}

static int teardown(void **state)
{
	struct terminal *t = *state;

	driver_exit(&t->v);
	free(t);
	return 0;
}

static void guest_writes(struct terminal *t, uint32_t len)
{
	set_desc(&t->v, TX, 0, (struct test_desc){TX_DATA, 3, NEXT, 1});
	set_desc(&t->v, TX, 1, (struct test_desc){TX_DATA + 3, len - 3, 0, 0});
	add_chain(&t->v, TX, 0);
	kick(&t->v, TX);
	wait_used(&t->v, TX, NULL);
}

static void guest_reads(struct terminal *t, uint16_t i, uint32_t room)
{
	set_desc(&t->v, RX, i, (struct test_desc){RX_DATA + 0x2000u * i, room, WRITE, 0});
	add_chain(&t->v, RX, i);
	kick(&t->v, RX);
}

static void guest_has(struct terminal *t, const char *text)
{
	uint32_t len, i = wait_used(&t->v, RX, &len);

	assert_int_equal(len, strlen(text));
	assert_memory_equal(at(&t->v, RX_DATA + 0x2000u * i), text, len);
}

static void test_output(void **state)
{
	struct terminal *t = *state;

	driver_begin(&t->v, QUEUES);
	strcpy(at(&t->v, TX_DATA), "login: ");
	guest_writes(t, 7);
	wait_fire(&t->v, TX + 1, 1);
	assert_int_equal(t->len, 7);
	assert_memory_equal(t->text, "login: ", 7);
	guest_writes(t, 0x10003); /* too much: its end is lost */
	assert_int_equal(t->len, 7 + 0x10000);
}

static void test_input(void **state)
{
	struct terminal *t = *state;
	char many[5000];

	memset(many, 'x', sizeof(many));
	assert_int_equal(console_type(t->v.d, "early", 5), 5);
	driver_begin(&t->v, QUEUES);
	guest_reads(t, 0, 3);
	guest_reads(t, 1, 64);
	guest_has(t, "ear");
	guest_has(t, "ly");
	assert_int_equal(console_type(t->v.d, many, sizeof(many)), 4096);
	assert_int_equal(console_type(t->v.d, many, 1), 0);
	guest_reads(t, 2, 0x2000);
	assert_int_equal(wait_used(&t->v, RX, NULL), 2);
	guest_reads(t, 3, 64);
	assert_int_equal(console_type(t->v.d, "root\n", 5), 5);
	guest_has(t, "root\n");
	reset(&t->v);
	assert_int_equal(console_type(t->v.d, "again", 5), 5);
	driver_begin(&t->v, VIRTIO_F_VERSION_1);
	guest_reads(t, 0, 64);
	guest_has(t, "again");
}

static void test_no_room(void **state)
{
	struct terminal *t = *state;

	driver_begin(&t->v, QUEUES);
	set_desc(&t->v, RX, 0, (struct test_desc){RX_DATA, 64, 0, 0});
	add_chain(&t->v, RX, 0);
	console_type(t->v.d, "x", 1);
	kick(&t->v, RX);
	wait_status(&t->v, NEEDS_RESET);
	driver_begin(&t->v, QUEUES);
	guest_reads(t, 0, 64);
	guest_has(t, "x");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_output, setup, teardown),
		cmocka_unit_test_setup_teardown(test_input, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_room, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
