// SPDX-License-Identifier: GPL-2.0-or-later
/* test-peer.c - what two ends say to each other: taken apart as it was put together, or refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/dat/bytes.h"
#include "frontend/lib/options.h"
#include "frontend/remote/peer.h"
#include "frontend/remote/request.h"

/* What has come: a letter for each frame, and the data. */
struct heard {
	char version[64];
	unsigned int protocol;
	struct text said;
	int status; /* -1: none */
};

static int hello(void *arg, unsigned int protocol, const char *version)
{
	struct heard *h = arg;

	h->protocol = protocol;
	strcpy(h->version, version);
	return 0;
}

static int data(void *arg, unsigned int frame, const uint8_t *bytes, size_t len)
{
	struct heard *h = arg;

	text_putc(&h->said, (char)('0' + frame));
	text_add(&h->said, bytes, len);
	return len && *bytes == '!' ? -EPIPE : 0;
}

static int status(void *arg, int value)
{
	struct heard *h = arg;

	h->status = value;
	return 0;
}

static const struct peer_ops ops = {hello, data, status};

static void frame(struct text *t, unsigned int kind, const char *bytes, size_t len)
{
	uint8_t head[REMOTE_FRAME_HEAD] = {(uint8_t)kind};

	bytes_put32(head + 1, (uint32_t)len);
	text_add(t, head, sizeof(head));
	text_add(t, bytes, len);
}

/* In pieces of so many bytes. */
static int hear(const struct text *t, size_t piece, uint32_t files, struct heard *h)
{
	struct peer *p = calloc(1, sizeof(*p));
	int rc = 0;

	assert_non_null(p);
	*p = (struct peer){.ops = &ops, .arg = h, .files = files};
	*h = (struct heard){.status = -1};
	for (size_t at = 0; at < t->len && !rc; at += piece)
		rc = peer_add(p, (const uint8_t *)t->buf + at,
			      piece < t->len - at ? piece : t->len - at);
	free(p);
	return rc;
}

static void comes(void **state)
{
	static const size_t pieces[] = {1, 3, 64, 1 << 20};
	struct text t = {0};

	(void)state;
	text_puts(&t, "Welcome\nhvtrace: x\n\nhvtrace remote 12 1.2~rc3+x\n");
	frame(&t, REMOTE_STDERR, "a\n", 2);
	frame(&t, REMOTE_STDOUT, "", 0);
	frame(&t, REMOTE_FILE, "bc", 2);
	frame(&t, REMOTE_STATUS, "\xff", 1);
	for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
		struct heard h;

		assert_int_equal(hear(&t, pieces[i], 1, &h), 0);
		assert_int_equal(h.protocol, 12);
		assert_string_equal(h.version, "1.2~rc3+x");
		assert_int_equal(h.said.len, 7);
		assert_memory_equal(h.said.buf, "2a\n13bc", 7);
		assert_int_equal(h.status, 255);
		text_free(&h.said);
	}
	text_free(&t);
}

/* The largest there may be, whole. */
static void largest(void **state)
{
	char *bytes = calloc(1, REMOTE_FRAME_MAX + 1);
	struct text t = {0};
	struct heard h;

	(void)state;
	assert_non_null(bytes);
	text_puts(&t, "hvtrace remote 1 1\n");
	frame(&t, REMOTE_STDOUT, bytes, REMOTE_FRAME_MAX);
	assert_int_equal(hear(&t, 4000, 0, &h), 0);
	assert_int_equal(h.said.len, 1 + REMOTE_FRAME_MAX);
	text_free(&h.said);
	t.len = strlen("hvtrace remote 1 1\n");
	frame(&t, REMOTE_STDOUT, bytes, REMOTE_FRAME_MAX + 1);
	assert_int_equal(hear(&t, 4000, 0, &h), -EBADMSG);
	assert_int_equal(h.said.len, 0);
	text_free(&t);
	free(bytes);
}

static void assert_bad(const char *bytes, size_t len)
{
	struct text t = {0};
	struct heard h;

	text_add(&t, bytes, len);
	for (size_t piece = 1; piece < 64; piece += 21) {
		assert_int_equal(hear(&t, piece, 1, &h), -EBADMSG);
		text_free(&h.said);
	}
	text_free(&t);
}

#define HELLO  "hvtrace remote 1 1\n"
#define BAD(s) assert_bad(s, sizeof(s) - 1)

static void refused(void **state)
{
	char *chatter = malloc(REMOTE_CHATTER_MAX + 2);

	(void)state;
	BAD("hvtrace remote \n");
	BAD("hvtrace remote 1\n");
	BAD("hvtrace remote 1 \n");
	BAD("hvtrace remote x 1\n");
	BAD("hvtrace remote 1111111 1\n");
	BAD("hvtrace remote 1 1;x\n");
	BAD("hvtrace remote 1 1 1\n");
	BAD("hvtrace remote 1 111111111111111111111111111111111\n");
	BAD(HELLO "\x04\0\0\0\0");	   /* a file that was not asked for */
	BAD(HELLO "\xff\0\0\0\0");	   /* nothing */
	BAD(HELLO "\x01\x01\0\x01\0");	   /* too much */
	BAD(HELLO "\x01\xff\xff\xff\xff"); /* far too much */
	BAD(HELLO "\0\x02\0\0\0\0\0");	   /* no status */
	BAD(HELLO "\0\0\0\0\0");
	BAD(HELLO "\0\x01\0\0\0\0\x01\0\0\0\0"); /* something behind the last one */
	assert_non_null(chatter);
	memset(chatter, 'x', REMOTE_CHATTER_MAX + 2);
	assert_bad(chatter, REMOTE_CHATTER_MAX + 2);
	memset(chatter, '\n', REMOTE_CHATTER_MAX + 2);
	assert_bad(chatter, REMOTE_CHATTER_MAX + 2);
	free(chatter);
}

static void ended(void **state)
{
	struct text t = {0};
	struct heard h;

	(void)state;
	text_puts(&t, HELLO);
	frame(&t, REMOTE_STDOUT, "!", 1);
	frame(&t, REMOTE_STDOUT, "x", 1);
	assert_int_equal(hear(&t, 1000, 0, &h), -EPIPE);
	assert_int_equal(h.said.len, 2);
	text_free(&h.said);
	text_free(&t);
}

/* --- the request -------------------------------------------------------------------------------
 */

static void words(void **state)
{
	static const char *const said[] = {"attach", "", "-x", "a b\n$(c)"};
	struct request r = {.flags = REMOTE_UTF8, .files = 2}, got;
	struct text t = {0};
	char **argv;

	(void)state;
	for (size_t i = 0; i < 4; i++)
		request_add(&r, said[i]);
	assert_int_equal(request_put(&r, &t), 0);
	assert_int_equal(request_length((const uint8_t *)t.buf), t.len - REQUEST_HEAD);
	assert_int_equal(request_parse((const uint8_t *)t.buf + REQUEST_HEAD, t.len - REQUEST_HEAD,
				       &got, &argv),
			 0);
	assert_int_equal(got.flags, REMOTE_UTF8);
	assert_int_equal(got.files, 2);
	assert_int_equal(got.nr, 4);
	for (size_t i = 0; i < 4; i++)
		assert_string_equal(argv[i + 1], said[i]);
	assert_null(argv[5]);
	free(argv);
	text_free(&r.words);
	text_free(&t);
}

static void bad_requests(void **state)
{
	static const struct {
		const char *bytes;
		size_t len;
	} bad[] = {
		{"\0\0\0\0\0\0\0\0", 8},
		{"\0\0\0\0\0\0\0\0\1\0\0\0", 12},	/* no word */
		{"\0\0\0\0\0\0\0\0\0\0\0\0", 12},	/* none, as it says */
		{"\0\0\0\0\0\0\0\0\1\0\0\0a", 13},	/* without an end */
		{"\0\0\0\0\0\0\0\0\2\0\0\0a\0", 14},	/* two are said */
		{"\0\0\0\0\0\0\0\0\1\0\0\0a\0b\0", 16}, /* one is */
		{"\0\0\0\0\5\0\0\0\1\0\0\0a\0", 14},	/* files */
		{"\0\0\0\0\0\0\0\0\xff\xff\xff\xff"
		 "a\0",
		 14},
	};
	struct request r = {.files = 0};
	struct text t = {0};
	char **argv;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(
			request_parse((const uint8_t *)bad[i].bytes, bad[i].len, &r, &argv),
			-EBADMSG);
	assert_int_equal(request_length((const uint8_t[]){11, 0, 0, 0}), -EBADMSG);
	assert_int_equal(request_length((const uint8_t[]){1, 0, 16, 0}), -EBADMSG);
	assert_int_equal(request_length((const uint8_t[]){0, 0, 16, 0}), 1 << 20);
	r = (struct request){.files = 0};
	for (int i = 0; i <= REMOTE_WORDS_MAX; i++)
		request_add(&r, "x");
	assert_int_equal(request_put(&r, &t), -E2BIG);
	text_free(&r.words);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(comes), cmocka_unit_test(largest), cmocka_unit_test(refused),
		cmocka_unit_test(ended), cmocka_unit_test(words),   cmocka_unit_test(bad_requests),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
