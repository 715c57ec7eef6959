// SPDX-License-Identifier: GPL-2.0-or-later
/* test-link.c - frames by a stream, and what a passt that does not work comes to. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "tests/unit/remove-tree.h"
#include "tests/unit/test-link.h"

struct bench {
	struct test_link *t;
	char dir[64], err[256];
};

static int setup(void **state)
{
	struct bench *b = calloc(1, sizeof(*b));

	assert_non_null(b);
	b->t = test_link_new();
	assert_non_null(b->t);
	snprintf(b->dir, sizeof(b->dir), "/tmp/test-link-XXXXXX");
	assert_non_null(mkdtemp(b->dir));
	*state = b;
	return 0;
}

static int teardown(void **state)
{
	struct bench *b = *state;

	if (b->t->peer >= 0)
		close(b->t->peer);
	link_close(&b->t->link);
	remove_tree(b->dir);
	free(b);
	return 0;
}

/* --- the stream ------------------------------------------------------------------------------ */

static void peer_writes(struct bench *b, const void *bytes, size_t len)
{
	assert_int_equal(write(b->t->peer, bytes, len), len);
}

static void test_frame_in_pieces(void **state)
{
	struct bench *b = *state;
	const uint8_t bytes[] = "\0\0\0\x0e"
				"0123456789abcd"
				"\0\0\0\x0f"
				"0123456789abcde";
	const uint8_t *frame;
	size_t len;

	for (size_t i = 0; i < 18; i++) {
		assert_int_equal(link_receive(&b->t->link, &frame, &len), -EAGAIN);
		peer_writes(b, bytes + i, 1);
	}
	assert_int_equal(link_receive(&b->t->link, &frame, &len), 0);
	assert_int_equal(len, 14);
	assert_memory_equal(frame, "0123456789abcd", 14);
	peer_writes(b, bytes + 18, 19);
	peer_writes(b, bytes, 18);
	assert_int_equal(link_receive(&b->t->link, &frame, &len), 0);
	assert_int_equal(len, 15);
	assert_memory_equal(frame, "0123456789abcde", 15);
	assert_int_equal(link_receive(&b->t->link, &frame, &len), 0);
	assert_int_equal(len, 14);
	assert_int_equal(link_receive(&b->t->link, &frame, &len), -EAGAIN);
}

/* As many as there may be, of all lengths, wherever in the buffer they end. */
static void test_many_frames(void **state)
{
	struct bench *b = *state;
	static uint8_t sent[LINK_FRAME_MAX];
	const uint8_t *frame;
	size_t len;

	for (uint32_t i = 0; i < 300; i++) {
		uint32_t want = i % 3 ? LINK_FRAME_MAX - i : 14 + i;

		memset(sent, (int)i, want);
		test_link_put(b->t, sent, want);
		assert_int_equal(link_receive(&b->t->link, &frame, &len), 0);
		assert_int_equal(len, want);
		assert_memory_equal(frame, sent, want);
	}
}

static void test_lengths_of_no_frames(void **state)
{
	static const uint32_t lengths[] = {0, 13, 65536, UINT32_MAX};
	struct bench *b = *state;
	const uint8_t *frame;
	size_t len;

	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		struct test_link *t = test_link_new();
		uint32_t head = htonl(lengths[i]);

		assert_non_null(t);
		assert_int_equal(write(t->peer, &head, 4), 4);
		assert_int_equal(link_receive(&t->link, &frame, &len), -EPROTO);
		close(t->peer);
		link_close(&t->link);
	}
	close(b->t->peer);
	b->t->peer = -1;
	assert_int_equal(link_receive(&b->t->link, &frame, &len), -EPIPE);
}

/* --- passt ----------------------------------------------------------------------------------- */

/* A passt of the test's own, which is a shell's script, and the link that it makes. */
static struct link *open_with(struct bench *b, const char *script)
{
	static const struct machine_forward forward[] = {{2222, 22}, {8080, 80}};
	const struct machine_net net = {.kind = MACHINE_NET_USER,
					.mac = {0x52, 0x54, 0, 1, 2, 3},
					.forward = forward,
					.nforward = 2};
	char path[128], words[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/passt", b->dir);
	f = fopen(path, "w");
	assert_non_null(f);
	fprintf(f, "#!/bin/sh\n%s\n", script);
	fclose(f);
	chmod(path, 0755);
	snprintf(words, sizeof(words), "%s:%s", b->dir, getenv("PATH"));
	setenv("PATH", words, 1);
	return link_open(&net, b->err, sizeof(b->err));
}

static void test_passt_that_begins(void **state)
{
	struct bench *b = *state;
	struct link *l = open_with(
		b, "case \"$*\" in\n"
		   "*'--fd 3 '*'-t 127.0.0.1/2222:22,8080:80 -u none') exec cat <&3 >&3 ;;\n"
		   "*) echo \"$*\" >&2; exit 1 ;;\nesac");
	const uint8_t *frame;
	size_t len;
	int rc;

	assert_non_null(l);
	while ((rc = link_receive(l, &frame, &len)) == -EAGAIN)
		usleep(1000);
	assert_int_equal(rc, 0); /* its own first one */
	assert_int_equal(len, 1514);
	assert_memory_equal(frame + 6, "\x52\x54\0\1\2\3\x88\xb5", 8);
	link_close(l);
}

static void test_passt_that_fails(void **state)
{
	struct bench *b = *state;

	assert_null(open_with(b, "echo started as root >&2; echo no port 2222 >&2; exit 1"));
	assert_string_equal(b->err, "passt, which is to connect the guest, says: no port 2222");
	assert_null(open_with(b, "exec 3<&-; exit 0"));
	assert_string_equal(b->err, "passt, which is to connect the guest, says: passt has ended");
}

static void test_passt_that_is_not_there(void **state)
{
	const struct machine_net net = {.kind = MACHINE_NET_USER};
	struct bench *b = *state;

	setenv("PATH", b->dir, 1);
	assert_null(link_open(&net, b->err, sizeof(b->err)));
	assert_string_equal(b->err, "passt, which is to connect the guest, says: passt cannot be "
				    "run: is it installed?");
}

static void test_tap_that_is_not_there(void **state)
{
	const struct machine_net net = {.kind = MACHINE_NET_TAP, .tap = "no-such-tap"};
	struct bench *b = *state;

	assert_null(link_open(&net, b->err, sizeof(b->err)));
	assert_true(!strncmp(b->err, "cannot open /dev/net/tun: ", 26) ||
		    !strcmp(b->err, "there is no interface no-such-tap "
				    "(ip tuntap add no-such-tap mode tap)"));
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_frame_in_pieces),	    TEST(test_many_frames),
		TEST(test_lengths_of_no_frames),    TEST(test_passt_that_begins),
		TEST(test_passt_that_fails),	    TEST(test_tap_that_is_not_there),
		TEST(test_passt_that_is_not_there), /* PATH is gone then */
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
