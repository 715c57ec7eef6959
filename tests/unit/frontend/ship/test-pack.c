// SPDX-License-Identifier: GPL-2.0-or-later
/* test-pack.c - a batch is known by its head and its sum, and comes out of a pipe in pieces. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "frontend/ship/inbox.h"

static struct pack some_pack(void)
{
	struct pack p = {
		.head =
			{
				.kind = PACK_BATCH,
				.size = 100,
				.rows = 7,
				.raw = 3000,
				.packed = 1000,
				.guest = "guest",
			},
		.bytes = calloc(1, 1000),
	};

	assert_non_null(p.bytes);
	p.bytes[999] = 1;
	pack_seal(&p);
	return p;
}

static void test_good(void **state)
{
	struct pack p = some_pack();

	(void)state;
	assert_null(pack_head_wrong(&p.head));
	assert_null(pack_wrong(&p));
	p.bytes[0] ^= 1;
	assert_string_equal(pack_wrong(&p), "it is damaged");
	p.bytes[0] ^= 1;
	p.head.number++;
	assert_string_equal(pack_wrong(&p), "it is damaged");
	free(p.bytes);
}

static void wrong(void (*spoil)(struct pack_head *h), const char *why)
{
	struct pack p = some_pack();

	spoil(&p.head);
	assert_string_equal(pack_head_wrong(&p.head), why);
	free(p.bytes);
}

static void other_magic(struct pack_head *h)
{
	h->magic[7] = '0';
}

static void other_kind(struct pack_head *h)
{
	h->kind = 3;
}

static void no_end(struct pack_head *h)
{
	memset(h->file, 'x', sizeof(h->file));
}

static void many_rows(struct pack_head *h)
{
	h->rows = 101;
}

static void large_batches(struct pack_head *h)
{
	h->size = PACK_ROWS_MAX + 1;
}

static void many_bytes(struct pack_head *h)
{
	h->packed = UINT64_MAX;
}

static void no_rows(struct pack_head *h)
{
	h->rows = 0;
}

static void source_with_bytes(struct pack_head *h)
{
	h->kind = PACK_SOURCE;
}

static void test_wrong(void **state)
{
	(void)state;
	wrong(other_magic, "it is no batch of records");
	wrong(other_kind, "it is of a kind that is not known");
	wrong(no_end, "it has a name without an end");
	wrong(many_rows, "it has more records than a batch");
	wrong(large_batches, "it has more records than a batch");
	wrong(many_bytes, "it is too large");
	wrong(no_rows, "it has no records");
	wrong(source_with_bytes, "it has no records");
}

/* --- the pipe ----------------------------------------------------------------------------------
 */

struct both_ends {
	struct inbox in;
	int to;
};

static struct both_ends begin(void)
{
	int fds[2];

	assert_int_equal(pipe2(fds, O_CLOEXEC | O_NONBLOCK), 0);
	return (struct both_ends){.in = {.fd = fds[0]}, .to = fds[1]};
}

static void test_pieces(void **state)
{
	struct both_ends e = begin();
	struct pack p = some_pack(), got;
	const uint8_t *parts[] = {(const uint8_t *)&p.head, p.bytes};
	const size_t sizes[] = {sizeof(p.head), p.head.packed};

	(void)state;
	for (size_t i = 0; i < 2; i++)
		for (size_t at = 0; at < sizes[i]; at++) {
			assert_false(inbox_read(&e.in, &got));
			assert_int_equal(write(e.to, parts[i] + at, 1), 1);
		}
	assert_true(inbox_read(&e.in, &got));
	assert_memory_equal(&got.head, &p.head, sizeof(p.head));
	assert_memory_equal(got.bytes, p.bytes, 1000);
	close(e.to);
	free(got.bytes);
	assert_false(inbox_read(&e.in, &got));
	assert_int_equal(e.in.fd, -1);
	assert_null(e.in.wrong);
	free(p.bytes);
}

static void test_torn(void **state)
{
	struct both_ends e = begin();
	struct pack p = some_pack(), got;

	(void)state;
	assert_int_equal(write(e.to, &p.head, sizeof(p.head)), sizeof(p.head));
	assert_int_equal(write(e.to, p.bytes, 10), 10);
	close(e.to);
	assert_false(inbox_read(&e.in, &got));
	assert_int_equal(e.in.fd, -1);
	assert_string_equal(e.in.wrong, "it ends within a batch");
	free(p.bytes);
}

static void test_damaged(void **state)
{
	struct both_ends e = begin();
	struct pack p = some_pack(), got;

	(void)state;
	p.bytes[5] = 5;
	assert_int_equal(write(e.to, &p.head, sizeof(p.head)), sizeof(p.head));
	assert_int_equal(write(e.to, p.bytes, 1000), 1000);
	assert_false(inbox_read(&e.in, &got));
	assert_int_equal(e.in.fd, -1);
	assert_string_equal(e.in.wrong, "it is damaged");
	close(e.to);
	free(p.bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),	cmocka_unit_test(test_wrong),
		cmocka_unit_test(test_pieces),	cmocka_unit_test(test_torn),
		cmocka_unit_test(test_damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
