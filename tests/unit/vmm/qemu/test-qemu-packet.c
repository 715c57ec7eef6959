// SPDX-License-Identifier: GPL-2.0-or-later
/* test-qemu-packet.c - framing of gdb's protocol, against peers that are good, bad and gone. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/fake-stub.h"
#include "vmm/qemu/gdb/packet.h"

#define LONG_MS 60000

static void begin(struct stub *s, struct packet_conn *c, const struct stub_step *script)
{
	stub_start(s, script);
	assert_int_equal(packet_open(c, s->client), 0);
	c->no_ack = s->no_ack;
}

static void end(struct stub *s, struct packet_conn *c)
{
	packet_close(c);
	assert_true(stub_end(s));
}

/* What comes when `raw` is all that the peer ever sends. */
static int receive_raw(struct packet_conn *c, const char *raw)
{
	const struct stub_step script[] = {{.raw = raw}, END_OF_SCRIPT};
	struct stub s = {0};
	int rc;

	begin(&s, c, script);
	rc = packet_recv(c, LONG_MS);
	end(&s, c);
	return rc;
}

static void test_round_trip(void **state)
{
	static const struct stub_step script[] = {
		{.want = "qOne", .say = "first"},
		{.want = "qTwo", .say = ""},
		END_OF_SCRIPT,
	};

	(void)state;
	for (int kind = 0; kind < 4; kind++) {
		struct stub s = {.split = kind & 1, .no_ack = kind & 2};
		struct packet_conn c;

		begin(&s, &c, script);
		assert_int_equal(packet_send(&c, "qOne"), 0);
		assert_int_equal(packet_recv(&c, LONG_MS), 5);
		assert_string_equal(c.data, "first");
		assert_int_equal(packet_send(&c, "qTwo"), 0);
		assert_int_equal(packet_recv(&c, LONG_MS), 0);
		assert_string_equal(c.data, "");
		assert_int_equal(packet_recv(&c, LONG_MS), -ECONNRESET);
		assert_int_equal(packet_send(&c, "qThree"), -ECONNRESET);
		end(&s, &c);
	}
}

static void test_encodings(void **state)
{
	struct packet_conn c;

	(void)state;
	assert_int_equal(receive_raw(&c, "noise$a}\x03}\x04#62"), 3); /* escaped # and $ */
	assert_string_equal(c.data, "a#$");
	assert_int_equal(receive_raw(&c, "$0* #7a"), 4); /* 0 and three more */
	assert_string_equal(c.data, "0000");
	assert_int_equal(receive_raw(&c, "$0*~#D8"), 98);
}

static void test_damaged(void **state)
{
	static const struct stub_step again[] = {
		{.want = "q", .raw = "$text#00"},
		{.raw = "$text#00$text#c1$text#c5"}, /* as the client asks for it again */
		END_OF_SCRIPT,
	};
	struct stub s = {0};
	struct packet_conn c;

	(void)state;
	begin(&s, &c, again);
	assert_int_equal(packet_send(&c, "q"), 0);
	assert_int_equal(packet_recv(&c, LONG_MS), 4);
	assert_string_equal(c.data, "text");
	end(&s, &c);

	assert_int_equal(receive_raw(&c, "$a#00$a#00$a#00$a#00$a#61"), -EBADMSG);
	assert_int_equal(c.error, -ENOTCONN); /* closed */
	assert_int_equal(receive_raw(&c, "$a#6x"), -EPROTO);
	assert_int_equal(receive_raw(&c, "$*!#4b"), -EPROTO); /* nothing to repeat */
	assert_int_equal(receive_raw(&c, "$a*\x01#8c"), -EPROTO);
	assert_int_equal(receive_raw(&c, "$a}#de"), -EPROTO);
	assert_int_equal(receive_raw(&c, "$half"), -ECONNRESET);
	assert_int_equal(receive_raw(&c, "+"), -ECONNRESET);
}

static void test_damaged_no_ack(void **state)
{
	static const struct stub_step script[] = {{.raw = "$a#00"}, END_OF_SCRIPT};
	struct stub s = {.no_ack = true};
	struct packet_conn c;

	(void)state;
	begin(&s, &c, script);
	assert_int_equal(packet_recv(&c, LONG_MS), -EBADMSG);
	assert_int_equal(packet_recv(&c, LONG_MS), -EBADMSG);
	end(&s, &c);
}

static void test_too_long(void **state)
{
	static const char run[] = "*~*~*~*~*~*~*~*~*~*~*~*~*~*~*~*~"; /* 16 x 97 */
	char plain[PACKET_MAX + 16] = "$", repeated[16 * sizeof(run)] = "$x";
	struct packet_conn c;

	(void)state;
	memset(plain + 1, 'x', PACKET_MAX + 1);
	assert_int_equal(receive_raw(&c, plain), -EMSGSIZE);
	for (int i = 0; i < 15; i++)
		strcat(repeated, run);
	assert_int_equal(receive_raw(&c, repeated), -EMSGSIZE);
	plain[1 + PACKET_MAX] = '\0';
	strcat(plain, "#00");
	plain[PACKET_MAX + 2] = "0123456789abcdef"[(PACKET_MAX * 'x' >> 4) & 15];
	plain[PACKET_MAX + 3] = "0123456789abcdef"[PACKET_MAX * 'x' & 15];
	assert_int_equal(receive_raw(&c, plain), PACKET_MAX);
}

/* A peer that says nothing, then half a packet: the half is not lost with the time. */
static void test_silence(void **state)
{
	static const struct stub_step script[] = {
		{.want = "one", .raw = "$ha"},
		{.want = "two", .raw = "lf#9b"},
		{.want = "three"},
		END_OF_SCRIPT,
	};
	struct stub s = {.no_ack = true}; /* no + amid the halves */
	struct packet_conn c;

	(void)state;
	begin(&s, &c, script);
	assert_int_equal(packet_recv(&c, 0), -ETIMEDOUT);
	assert_int_equal(packet_send(&c, "one"), 0);
	assert_int_equal(packet_recv(&c, 50), -ETIMEDOUT);
	assert_int_equal(packet_send(&c, "two"), 0);
	assert_int_equal(packet_recv(&c, LONG_MS), 4);
	assert_string_equal(c.data, "half");
	assert_int_equal(packet_send(&c, "three"), 0);
	assert_int_equal(packet_recv(&c, LONG_MS), -ECONNRESET);
	end(&s, &c);
}

/* However much there is to be read: a peer that talks on and on may be faster than it is heard. */
static void test_time_is_over(void **state)
{
	static char noise[5000] = "$a#61";
	struct packet_conn c;
	int fds[2];

	(void)state;
	memset(noise + 5, '+', sizeof(noise) - 5);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	assert_int_equal(packet_open(&c, fds[0]), 0);
	assert_int_equal(send(fds[1], noise, sizeof(noise), 0), sizeof(noise));
	assert_int_equal(packet_recv_by(&c, packet_deadline(&c, 0) - 1), -ETIMEDOUT);
	assert_int_equal(packet_recv(&c, LONG_MS), 1);
	packet_close(&c);
	close(fds[1]);
}

static void test_asked_again(void **state)
{
	static const struct stub_step script[] = {
		{.want = "once", .raw = "-"},
		{.want = "once", .raw = "-"},
		{.want = "once", .say = "yes"},
		{.want = "never", .raw = "----"},
		{.want = "never"},
		{.want = "never"},
		{.want = "never"},
		END_OF_SCRIPT,
	};
	struct stub s = {0};
	struct packet_conn c;

	(void)state;
	begin(&s, &c, script);
	assert_int_equal(packet_send(&c, "once"), 0);
	assert_int_equal(packet_recv(&c, LONG_MS), 3);
	assert_int_equal(packet_send(&c, "never"), 0);
	assert_int_equal(packet_recv(&c, LONG_MS), -EBADMSG);
	end(&s, &c);
}

static void test_gone(void **state)
{
	struct packet_conn c;
	int fds[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	assert_int_equal(packet_open(&c, fds[0]), 0);
	close(fds[1]);
	assert_int_equal(packet_interrupt(&c), -EPIPE);
	assert_int_equal(packet_send(&c, "x"), -EPIPE);
	assert_int_equal(packet_recv(&c, -1), -EPIPE);
	packet_close(&c);
	assert_int_equal(packet_send(&c, "x"), -ENOTCONN);
}

static void test_long_text(void **state)
{
	static char text[PACKET_MAX + 2];
	struct packet_conn c;
	int fds[2];

	(void)state;
	memset(text, 'a', sizeof(text) - 1);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	assert_int_equal(packet_open(&c, fds[0]), 0);
	assert_int_equal(packet_send(&c, text), -EMSGSIZE);
	text[PACKET_MAX] = '\0';
	c.ack_due = true;
	assert_int_equal(packet_send(&c, text), 0);
	packet_close(&c);
	close(fds[1]);
}

/* Who has sent something is told until nobody asks any more: then only bytes are received. */
static void test_sender(void **state)
{
	struct packet_conn c;
	int fds[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	assert_int_equal(packet_open(&c, fds[0]), 0);
	assert_int_equal(c.sender.pid, 0);
	assert_int_equal(send(fds[1], "$a#61", 5, 0), 5);
	assert_int_equal(packet_recv(&c, LONG_MS), 1);
	assert_int_equal(c.sender.pid, getpid());
	c.sender.pid = 0;
	c.sender_stays = true;
	assert_int_equal(send(fds[1], "$bc#c5", 6, 0), 6);
	assert_int_equal(packet_recv(&c, LONG_MS), 2);
	assert_string_equal(c.data, "bc");
	assert_int_equal(c.sender.pid, 0);
	packet_close(&c);
	close(fds[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),  cmocka_unit_test(test_encodings),
		cmocka_unit_test(test_damaged),	    cmocka_unit_test(test_damaged_no_ack),
		cmocka_unit_test(test_too_long),    cmocka_unit_test(test_silence),
		cmocka_unit_test(test_asked_again), cmocka_unit_test(test_gone),
		cmocka_unit_test(test_long_text),   cmocka_unit_test(test_time_is_over),
		cmocka_unit_test(test_sender),
	};

	return cmocka_run_group_tests_name("qemu packets", tests, NULL, NULL);
}
