// SPDX-License-Identifier: GPL-2.0-or-later
/* test-block.c - rows come out of a block as a server reads it: frames, and in them the format
 * Native. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <zstd.h>

#include "frontend/ship/block.h"

enum { HEAD = 25, ROWS = 200000 };

/* What is in frames. */
struct plain {
	uint8_t *bytes;
	size_t len, at;
};

static void add_frames(struct plain *p, const uint8_t *at, size_t len)
{
	static const uint8_t no_checksum[16];

	while (len) {
		uint32_t packed, size;

		assert_true(len > HEAD);
		assert_memory_equal(at, no_checksum, sizeof(no_checksum));
		assert_int_equal(at[16], 0x90);
		memcpy(&packed, at + 17, 4);
		memcpy(&size, at + 21, 4);
		assert_true(packed >= 9 && packed + 16 <= len);
		p->bytes = realloc(p->bytes, p->len + size);
		assert_non_null(p->bytes);
		assert_int_equal(ZSTD_decompress(p->bytes + p->len, size, at + HEAD, packed - 9),
				 size);
		p->len += size;
		at += 16 + packed;
		len -= 16 + packed;
	}
}

static uint64_t take_varint(struct plain *p)
{
	uint64_t n = 0;

	assert_non_null(p->bytes);
	for (unsigned int shift = 0;; shift += 7) {
		uint8_t byte = p->bytes[p->at++];

		n |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return n;
	}
}

static void check_text(struct plain *p, const char *want, size_t len)
{
	assert_int_equal(take_varint(p), len);
	assert_memory_equal(p->bytes + p->at, want, len);
	p->at += len;
}

static void check_word(struct plain *p, const char *want)
{
	check_text(p, want, strlen(want));
}

static uint64_t take_number(struct plain *p, size_t width)
{
	uint64_t n = 0;

	memcpy(&n, p->bytes + p->at, width);
	p->at += width;
	return n;
}

/* A column, each number of which is its row plus first. */
static void check_numbers(struct plain *p, const char *name, const char *type, size_t width,
			  uint64_t first, uint32_t rows)
{
	uint64_t mask = width == 8 ? UINT64_MAX : (UINT64_C(1) << width * 8) - 1;

	check_word(p, name);
	check_word(p, type);
	for (uint32_t i = 0; i < rows; i++)
		assert_int_equal(take_number(p, width), (first + i) & mask);
}

static void check_texts(struct plain *p, const char *name, const char *text, uint32_t rows)
{
	check_word(p, name);
	check_word(p, "String");
	for (uint32_t i = 0; i < rows; i++)
		check_word(p, text);
}

static void add_long_row(struct block *b, uint32_t i, const char *info, uint32_t raw)
{
	struct block_text comm, event, function, call;
	const struct block_row row = {
		.nr = i,
		.time = 1000 + i,
		.at = 2000 + i,
		.cpu = (uint16_t)i,
		.depth = (uint16_t)(5 + i),
		.pid = (int32_t)(7 + i),
		.call_nr = (int32_t)i - 1,
		.duration = (int64_t)i - 1,
		.ret = (int64_t)i - 10,
		.comm = &comm,
		.event = &event,
		.function = &function,
		.call = &call,
		.info = info,
		.info_len = info ? strlen(info) : 0,
		.raw = raw,
	};

	block_text(&comm, "bash", 4);
	block_text(&event, "ftrace:function", 15);
	block_text(&function, "vfs_read", 8);
	block_text(&call, "", 0);
	assert_true(block_add(b, &row));
}

static void add_row(struct block *b, uint32_t i, const char *info)
{
	add_long_row(b, i, info, 100);
}

static struct pack some_names(void)
{
	return (struct pack){
		.head = {.host = "here", .guest = "there", .kernel = "6.1", .source = 99}};
}

static void check_block(struct plain *p, uint32_t rows, const char *info)
{
	assert_int_equal(take_varint(p), 19);
	assert_int_equal(take_varint(p), rows);
	check_numbers(p, "nr", "UInt64", 8, 0, rows);
	check_numbers(p, "time", "UInt64", 8, 1000, rows);
	check_numbers(p, "at", "DateTime", 4, 2000, rows);
	check_numbers(p, "cpu", "UInt16", 2, 0, rows);
	check_numbers(p, "depth", "UInt16", 2, 5, rows);
	check_numbers(p, "pid", "Int32", 4, 7, rows);
	check_numbers(p, "call_nr", "Int32", 4, (uint64_t)-1, rows);
	check_numbers(p, "duration", "Int64", 8, (uint64_t)-1, rows);
	check_numbers(p, "ret", "Int64", 8, (uint64_t)-10, rows);
	check_texts(p, "comm", "bash", rows);
	check_texts(p, "event", "ftrace:function", rows);
	check_texts(p, "function", "vfs_read", rows);
	check_texts(p, "call", "", rows);
	check_texts(p, "info", info, rows);
	check_texts(p, "host", "here", rows);
	check_texts(p, "guest", "there", rows);
	check_texts(p, "kernel", "6.1", rows);
	check_word(p, "source");
	check_word(p, "UInt64");
	for (uint32_t i = 0; i < rows; i++)
		assert_int_equal(take_number(p, 8), 99);
}

static void check_all(struct block *b, uint32_t rows, const char *info)
{
	struct pack pack = some_names();
	struct plain p = {NULL, 0, 0};
	uint8_t *sent;
	size_t len;

	assert_true(block_pack(b, &pack));
	assert_int_equal(block_rows(b), 0);
	assert_int_equal(pack.head.rows, rows);
	add_frames(&p, pack.bytes, pack.head.packed);
	assert_int_equal(pack.head.raw, p.len);
	check_block(&p, rows, info);
	assert_int_equal(p.at, p.len);
	sent = block_sent(4711, rows, &len);
	assert_non_null(sent);
	add_frames(&p, sent, len);
	check_word(&p, "sent");
	check_word(&p, "UInt64");
	for (uint32_t i = 0; i < rows; i++)
		assert_int_equal(take_number(&p, 8), 4711);
	assert_int_equal(p.at, p.len);
	free(sent);
	free(pack.bytes);
	free(p.bytes);
}

static void test_rows(void **state)
{
	struct block *b = block_new(ROWS);

	(void)state;
	assert_non_null(b);
	for (uint32_t i = 0; i < ROWS; i++) {
		assert_false(block_full(b));
		add_row(b, i, NULL);
	}
	assert_true(block_full(b));
	check_all(b, ROWS, "");
	/* Again, with fewer. */
	for (uint32_t i = 0; i < 3; i++)
		add_row(b, i, "a=1");
	assert_false(block_full(b));
	check_all(b, 3, "a=1");
	block_free(b);
}

/*
 * A block is full with fewer rows where records are long, whatever they say as text: that may come
 * along or not. What is more of it than there is room for is left out.
 */
static void test_long(void **state)
{
	static char info[70000];

	(void)state;
	memset(info, 'x', sizeof(info) - 1);
	for (int with = 0; with < 2; with++) {
		struct block *b = block_new(ROWS);
		struct pack pack = some_names();
		uint32_t n = 0;

		assert_non_null(b);
		for (; !block_full(b); n++)
			add_long_row(b, n, with ? info : NULL, 10000);
		assert_int_equal(n, ((64 << 20) + 9999) / 10000);
		assert_true(block_pack(b, &pack));
		assert_int_equal(pack.head.rows, n);
		assert_true(pack.head.raw < (200 << 20));
		free(pack.bytes);
		assert_false(block_full(b));
		block_free(b);
	}
}

static void test_text(void **state)
{
	static char text[2000];
	struct block_text t;

	(void)state;
	memset(text, 'x', sizeof(text));
	block_text(&t, text, 127);
	assert_int_equal(t.len, 128);
	assert_int_equal(t.bytes[0], 127);
	block_text(&t, text, 128);
	assert_int_equal(t.len, 130);
	assert_int_equal(t.bytes[0], 0x80);
	assert_int_equal(t.bytes[1], 1);
	block_text(&t, text, sizeof(text));
	assert_int_equal(t.len, 2 + BLOCK_TEXT_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_long),
		cmocka_unit_test(test_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
