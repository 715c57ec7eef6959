// SPDX-License-Identifier: GPL-2.0-or-later
/* test-queue.c - split virtqueues, of sound drivers and others. */
#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/virtio-driver.h"

struct scene {
	struct driver v; /* its memory only */
	struct virtq q;
	struct virtq_chain c;
};

#define ALL (VIRTIO_F_VERSION_1 | VIRTIO_F_EVENT_IDX | VIRTIO_F_INDIRECT_DESC)

static int start(struct scene *s, uint64_t features)
{
	const struct virtio_memory memory = {ram_ptr, s->v.ram};
	const struct virtq_place place = {QUEUE_SIZE, desc_at(0), avail_at(0), used_at(0)};

	return virtq_start(&s->q, &memory, &place, features);
}

static int setup(void **state)
{
	struct scene *s = calloc(1, sizeof(*s));

	assert_non_null(s);
	s->v.ram = calloc(1, RAM_SIZE);
	assert_non_null(s->v.ram);
	assert_int_equal(start(s, ALL), 0);
	*state = s;
	return 0;
}

static int teardown(void **state)
{
	struct scene *s = *state;

	free(s->v.ram);
	free(s);
	return 0;
}

static void chain_of_three(struct scene *s)
{
	set_desc(&s->v, 0, 2, (struct test_desc){DATA, 16, NEXT, 5});
	set_desc(&s->v, 0, 5, (struct test_desc){DATA + 0x1000, 0x800, NEXT | WRITE, 1});
	set_desc(&s->v, 0, 1, (struct test_desc){DATA + 0x2000, 1, WRITE, 0});
	add_chain(&s->v, 0, 2);
}

static void test_chain(void **state)
{
	struct scene *s = *state;
	struct virtq_chain *c = &s->c;

	assert_int_equal(virtq_pop(&s->q, c), 0);
	chain_of_three(s);
	assert_int_equal(virtq_pop(&s->q, c), 1);
	assert_int_equal(c->head, 2);
	assert_int_equal(c->nout, 1);
	assert_int_equal(c->nin, 2);
	assert_int_equal(c->out_len, 16);
	assert_int_equal(c->in_len, 0x801);
	assert_ptr_equal(c->iov[1].iov_base, at(&s->v, DATA + 0x1000));
	assert_int_equal(virtq_pop(&s->q, c), 0);
}

static bool give_back(struct scene *s, uint32_t head, uint32_t written)
{
	const struct virtq_used used = {head, written};

	return virtq_push(&s->q, &used, 1);
}

static void test_ring_goes_round(void **state)
{
	struct scene *s = *state;

	set_desc(&s->v, 0, 3, (struct test_desc){DATA, 1, WRITE, 0});
	s->q.next = s->q.done = 0xfffe; /* as after 65534 of them */
	s->v.added[0] = s->v.seen[0] = 0xfffe;
	for (unsigned int i = 0; i < 20; i++) {
		uint32_t len = 0;

		add_chain(&s->v, 0, 3);
		assert_int_equal(virtq_pop(&s->q, &s->c), 1);
		give_back(s, s->c.head, i);
		assert_int_equal(wait_used(&s->v, 0, &len), 3);
		assert_int_equal(len, i);
	}
}

static void test_indirect(void **state)
{
	const struct test_desc table[] = {
		{DATA, 16, NEXT, 2}, {DATA + 0x200, 1, WRITE, 0}, {DATA + 0x100, 32, NEXT, 1}};
	struct scene *s = *state;

	memcpy(at(&s->v, DATA + 0x3008), table, sizeof(table)); /* aligned as little as may be */
	set_desc(&s->v, 0, 0, (struct test_desc){DATA + 0x3008, sizeof(table), INDIRECT, 0});
	add_chain(&s->v, 0, 0);
	assert_int_equal(virtq_pop(&s->q, &s->c), 1);
	assert_int_equal(s->c.nout, 2);
	assert_int_equal(s->c.nin, 1);
	assert_int_equal(s->c.out_len, 48);
	/* Not negotiated. */
	memset(at(&s->v, avail_at(0)), 0, 64);
	s->v.added[0] = 0;
	assert_int_equal(start(s, VIRTIO_F_VERSION_1), 0);
	add_chain(&s->v, 0, 0);
	assert_true(virtq_pop(&s->q, &s->c) < 0);
}

static void test_empty_buffers_are_none(void **state)
{
	struct scene *s = *state;

	set_desc(&s->v, 0, 0, (struct test_desc){DATA, 0, NEXT, 1});
	set_desc(&s->v, 0, 1, (struct test_desc){0, 0, WRITE, 0}); /* not even RAM */
	add_chain(&s->v, 0, 0);
	assert_int_equal(virtq_pop(&s->q, &s->c), 1);
	assert_int_equal(s->c.nout + s->c.nin, 0);
}

/* Each is what a sound driver does, but for one thing. */
static void test_broken_chains(void **state)
{
	static const struct {
		const char *what;
		uint16_t head;
		struct test_desc d[2];
	} rows[] = {
		{"a loop of one", 0, {{DATA, 1, NEXT, 0}}},
		{"a loop of two", 0, {{DATA, 1, NEXT, 1}, {DATA, 1, NEXT, 0}}},
		{"head outside", QUEUE_SIZE, {{DATA, 1, 0, 0}}},
		{"next outside", 0, {{DATA, 1, NEXT, QUEUE_SIZE}}},
		{"below RAM", 0, {{RAM_START - 1, 2, 0, 0}}},
		{"over its end", 0, {{RAM_START + RAM_SIZE - 1, 2, 0, 0}}},
		{"over the end of all", 0, {{UINT64_MAX, UINT32_MAX, 0, 0}}},
		{"read behind written", 0, {{DATA, 1, NEXT | WRITE, 1}, {DATA, 1, 0, 0}}},
		{"indirect and more", 0, {{DATA, 16, INDIRECT | NEXT, 1}, {DATA, 1, 0, 0}}},
		{"indirect and written", 0, {{DATA, 16, INDIRECT | WRITE, 0}}},
		{"an empty table", 0, {{DATA, 0, INDIRECT, 0}}},
		{"half an entry", 0, {{DATA, 24, INDIRECT, 0}}},
		{"a huge table", 0, {{DATA, (VIRTQ_MAX + 1) * 16, INDIRECT, 0}}},
		{"a table that is not RAM", 0, {{0, 16, INDIRECT, 0}}},
		{"a table behind a buffer", 0, {{DATA, 1, NEXT, 1}, {DATA, 16, INDIRECT, 0}}},
	};
	struct scene *s = *state;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		print_message("# %s\n", rows[i].what);
		memset(s->v.ram, 0, RAM_SIZE);
		s->v.added[0] = 0;
		assert_int_equal(start(s, ALL), 0);
		set_desc(&s->v, 0, 0, rows[i].d[0]);
		set_desc(&s->v, 0, 1, rows[i].d[1]);
		add_chain(&s->v, 0, rows[i].head);
		assert_true(virtq_pop(&s->q, &s->c) < 0);
	}
}

static void test_table_in_a_table(void **state)
{
	const struct test_desc inner = {DATA, 16, INDIRECT, 0};
	struct scene *s = *state;

	memcpy(at(&s->v, DATA), &inner, sizeof(inner)); /* it is its own */
	set_desc(&s->v, 0, 0, (struct test_desc){DATA, 16, INDIRECT, 0});
	add_chain(&s->v, 0, 0);
	assert_true(virtq_pop(&s->q, &s->c) < 0);
}

static void test_index_too_far(void **state)
{
	struct scene *s = *state;
	const uint16_t idx = QUEUE_SIZE + 1;

	memcpy((uint8_t *)at(&s->v, avail_at(0)) + 2, &idx, 2);
	assert_true(virtq_pop(&s->q, &s->c) < 0);
}

static void test_places(void **state)
{
	static const struct virtq_place wrong[] = {
		{0, RAM_START, RAM_START, RAM_START},
		{3, RAM_START, RAM_START, RAM_START},
		{2 * VIRTQ_MAX, RAM_START, RAM_START, RAM_START},
		{8, RAM_START + 8, RAM_START, RAM_START},
		{8, RAM_START, RAM_START + 1, RAM_START},
		{8, RAM_START, RAM_START, RAM_START + 2},
		{8, 0, RAM_START, RAM_START},
		{8, RAM_START, RAM_START + RAM_SIZE - 20, RAM_START},
		{8, RAM_START, RAM_START, RAM_START + RAM_SIZE - 68},
		{8, UINT64_MAX & ~UINT64_C(15), RAM_START, RAM_START},
	};
	struct scene *s = *state;
	const struct virtio_memory memory = {ram_ptr, s->v.ram};
	struct virtq q;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_true(virtq_start(&q, &memory, &wrong[i], ALL) < 0);
	assert_int_equal(virtq_start(&q, &memory,
				     &(struct virtq_place){8, RAM_START + RAM_SIZE - 128,
							   RAM_START + RAM_SIZE - 22,
							   RAM_START + RAM_SIZE - 72},
				     ALL),
			 0);
}

static void set_used_event(struct scene *s, uint16_t event)
{
	memcpy((uint8_t *)at(&s->v, avail_at(0)) + 4 + 2 * QUEUE_SIZE, &event, 2);
}

static void test_interrupts_by_index(void **state)
{
	struct scene *s = *state;

	set_used_event(s, 1);
	assert_false(give_back(s, 0, 0));
	assert_true(give_back(s, 0, 0));
	assert_false(give_back(s, 0, 0));
	set_used_event(s, 0xffff);
	s->q.done = 0xffff;
	assert_true(give_back(s, 0, 0));
	assert_int_equal(used_index(&s->v, 0), 0);
}

/* What belongs together the driver sees at once, and is told of once. */
static void test_many_are_given_back(void **state)
{
	const struct virtq_used used[] = {{3, 10}, {1, 20}, {2, 30}};
	struct scene *s = *state;
	uint32_t len;

	set_used_event(s, 1);
	s->q.done = s->v.seen[0] = QUEUE_SIZE - 1;
	set_used_event(s, QUEUE_SIZE);
	assert_true(virtq_push(&s->q, used, 3));
	assert_int_equal(used_index(&s->v, 0), QUEUE_SIZE + 2);
	for (unsigned int i = 0; i < 3; i++) {
		assert_int_equal(wait_used(&s->v, 0, &len), used[i].head);
		assert_int_equal(len, used[i].written);
	}
}

static void test_chains_that_are_not_taken(void **state)
{
	struct scene *s = *state;

	for (uint16_t i = 0; i < 3; i++) {
		set_desc(&s->v, 0, i, (struct test_desc){DATA, 1, WRITE, 0});
		add_chain(&s->v, 0, i);
		assert_int_equal(virtq_pop(&s->q, &s->c), 1);
	}
	virtq_unpop(&s->q, 2);
	assert_int_equal(virtq_pop(&s->q, &s->c), 1);
	assert_int_equal(s->c.head, 1);
	assert_int_equal(virtq_pop(&s->q, &s->c), 1);
	assert_int_equal(virtq_pop(&s->q, &s->c), 0);
}

/* Across the buffers that the device may write, and not behind them. */
static void test_put(void **state)
{
	struct scene *s = *state;
	const uint8_t *ram = at(&s->v, DATA);

	set_desc(&s->v, 0, 0, (struct test_desc){DATA, 4, NEXT, 1});
	set_desc(&s->v, 0, 1, (struct test_desc){DATA + 8, 4, NEXT | WRITE, 2});
	set_desc(&s->v, 0, 2, (struct test_desc){DATA + 16, 4, WRITE, 0});
	add_chain(&s->v, 0, 0);
	assert_int_equal(virtq_pop(&s->q, &s->c), 1);
	assert_int_equal(virtq_put(&s->c, 2, "abcd", 4), 4);
	assert_memory_equal(ram, "\0\0\0\0\0\0\0\0\0\0ab\0\0\0\0cd\0\0", 20);
	assert_int_equal(virtq_put(&s->c, 6, "xyz", 3), 2);
	assert_memory_equal(ram + 16, "cdxy\0", 5);
	assert_int_equal(virtq_put(&s->c, 8, "xyz", 3), 0);
}

static void test_interrupts_by_flag(void **state)
{
	struct scene *s = *state;

	assert_int_equal(start(s, VIRTIO_F_VERSION_1), 0);
	set_used_event(s, 99);
	assert_true(give_back(s, 0, 0));
	*(uint16_t *)at(&s->v, avail_at(0)) = 1;
	assert_false(give_back(s, 0, 0));
}

static void test_kicks(void **state)
{
	struct scene *s = *state;
	uint16_t event;

	set_desc(&s->v, 0, 0, (struct test_desc){DATA, 1, WRITE, 0});
	assert_true(virtq_wants_kick(&s->q));
	add_chain(&s->v, 0, 0);
	assert_false(virtq_wants_kick(&s->q)); /* it has come already */
	assert_int_equal(virtq_pop(&s->q, &s->c), 1);
	assert_true(virtq_wants_kick(&s->q));
	memcpy(&event, (uint8_t *)at(&s->v, used_at(0)) + 4 + 8 * QUEUE_SIZE, 2);
	assert_int_equal(event, 1);
}

static void test_take_and_cut(void **state)
{
	struct scene *s = *state;
	struct virtq_chain *c = &s->c;
	uint8_t bytes[12];

	memcpy(at(&s->v, DATA), "abcdefgh", 8);
	memcpy(at(&s->v, DATA + 0x100), "ijklmnop", 8);
	set_desc(&s->v, 0, 0, (struct test_desc){DATA, 8, NEXT, 1});
	set_desc(&s->v, 0, 1, (struct test_desc){DATA + 0x100, 8, NEXT, 2});
	set_desc(&s->v, 0, 2, (struct test_desc){DATA + 0x200, 2, NEXT | WRITE, 3});
	set_desc(&s->v, 0, 3, (struct test_desc){DATA + 0x300, 1, WRITE, 0});
	add_chain(&s->v, 0, 0);
	assert_int_equal(virtq_pop(&s->q, c), 1);
	assert_true(virtq_take(c, bytes, 10));
	assert_memory_equal(bytes, "abcdefghij", 10);
	assert_int_equal(c->nout, 1);
	assert_int_equal(c->out_len, 6);
	assert_false(virtq_take(c, bytes, 7));
	assert_ptr_equal(virtq_cut_last(c), at(&s->v, DATA + 0x300));
	assert_int_equal(c->nin, 1);
	assert_ptr_equal(c->iov[1].iov_base, at(&s->v, DATA + 0x200));
	assert_ptr_equal(virtq_cut_last(c), at(&s->v, DATA + 0x201));
	assert_ptr_equal(virtq_cut_last(c), at(&s->v, DATA + 0x200));
	assert_null(virtq_cut_last(c));
	assert_true(virtq_take(c, bytes, 6));
	assert_memory_equal(bytes, "klmnop", 6);
	assert_true(virtq_take(c, bytes, 0));
	assert_false(virtq_take(c, bytes, 1));
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_chain),
		TEST(test_ring_goes_round),
		TEST(test_indirect),
		TEST(test_empty_buffers_are_none),
		TEST(test_broken_chains),
		TEST(test_table_in_a_table),
		TEST(test_index_too_far),
		TEST(test_places),
		TEST(test_interrupts_by_index),
		TEST(test_many_are_given_back),
		TEST(test_chains_that_are_not_taken),
		TEST(test_put),
		TEST(test_interrupts_by_flag),
		TEST(test_kicks),
		TEST(test_take_and_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
