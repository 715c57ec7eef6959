// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test-event-ring.c - the host's end of a ring of event data: what records stand for is found, what
 * has been overwritten is not, and whatever a guest writes there does no harm.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tracer/payload/event-ring.h"

#include "tests/seed.h"

enum { SIZE = 65536, RING = 0x10000, VCPU = 1 };

struct made_window {
	uint64_t head, tail;
	uint64_t grows; /* what the guest reserves between two looks at its head */
	uint8_t ring[SIZE];
	struct event_ring er;
};

static int window_read(void *arg, uint64_t off, void *buf, size_t len)
{
	struct made_window *w = arg;

	if (off == WINDOW_CTL + VCPU * CTL_SIZE + CTL_EVENT_HEAD) {
		assert_int_equal(len, sizeof(w->head));
		memcpy(buf, &w->head, len);
		w->head += w->grows;
		return 0;
	}
	assert_true(off >= RING && off - RING <= SIZE && len <= SIZE - (off - RING));
	memcpy(buf, w->ring + (off - RING), len);
	return 0;
}

static int window_write(void *arg, uint64_t off, const void *buf, size_t len)
{
	struct made_window *w = arg;

	assert_int_equal(off, WINDOW_CTL + VCPU * CTL_SIZE + CTL_EVENT_TAIL);
	assert_int_equal(len, sizeof(w->tail));
	memcpy(&w->tail, buf, len);
	return 0;
}

static int setup(void **state)
{
	struct made_window *w = calloc(1, sizeof(*w));
	const struct staging_io io = {.read = window_read, .write = window_write, .arg = w};

	*state = w;
	return w ? event_ring_init(&w->er, &io, VCPU, RING, SIZE) : -1;
}

static int teardown(void **state)
{
	struct made_window *w = *state;

	event_ring_exit(&w->er);
	free(w);
	return 0;
}

/* As the payload does: room that does not end behind the ring's end. */
static struct payload_record event_make(struct made_window *w, uint32_t len, uint8_t byte)
{
	uint64_t n = (EVENT_HEADER + (uint64_t)len + 7) & ~UINT64_C(7), at = w->head;

	w->head += n;
	if (at % SIZE + n > SIZE) {
		at = w->head;
		w->head += n;
	}
	memset(w->ring + at % SIZE + EVENT_HEADER, byte, len);
	return (struct payload_record){
		.event_at = (uint32_t)at,
		.event_len = len,
		.state = PAYLOAD_EVENT << STATE_TYPE_SHIFT,
	};
}

static void test_found(void **state)
{
	struct made_window *w = *state;
	struct payload_record r[3];

	/* Beyond 32 bits, several times around the ring. */
	w->head = (UINT64_C(1) << 32) - 40000;
	for (unsigned int round = 0; round < 200; round++) {
		for (unsigned int i = 0; i < 3; i++)
			r[i] = event_make(w, 8 + (round * 3 + i) * 7 % 4000, (uint8_t)(round + i));
		assert_int_equal(event_ring_load(&w->er, r, 3), 0);
		for (unsigned int i = 0; i < 3; i++) {
			const uint8_t *data = event_ring_data(&w->er, &r[i]);

			assert_non_null(data);
			assert_int_equal(data[0], (uint8_t)(round + i));
			assert_int_equal(data[r[i].event_len - 1], (uint8_t)(round + i));
		}
		assert_int_equal(event_ring_taken(&w->er, r, 3), 0);
		assert_int_equal((uint32_t)w->tail, r[2].event_at);
	}
}

static void test_overwritten(void **state)
{
	struct made_window *w = *state;
	struct payload_record first = event_make(w, 1000, 1), last;

	for (unsigned int i = 0; i < SIZE / 1008; i++)
		last = event_make(w, 1000, 2);
	assert_int_equal(event_ring_load(&w->er, &first, 1), 0);
	assert_null(event_ring_data(&w->er, &first));
	assert_int_equal(event_ring_load(&w->er, &last, 1), 0);
	assert_non_null(event_ring_data(&w->er, &last));
}

/* What the guest reserves while its ring is copied may have been overwritten meanwhile. */
static void test_overtaken(void **state)
{
	struct made_window *w = *state;
	struct payload_record r[2] = {event_make(w, 1000, 1), event_make(w, 1000, 2)};

	w->grows = SIZE - w->head + 8;
	assert_int_equal(event_ring_load(&w->er, r, 2), 0);
	assert_null(event_ring_data(&w->er, &r[0]));
	assert_non_null(event_ring_data(&w->er, &r[1]));
	w->grows = 3 * SIZE;
	assert_int_equal(event_ring_load(&w->er, r, 2), 0);
	assert_null(event_ring_data(&w->er, &r[1]));
}

/* It lies between what was copied first and last. */
static bool er_covers(const struct event_ring *er, const struct payload_record *r)
{
	uint64_t back = (uint32_t)((uint32_t)er->to - r->event_at);

	return back <= er->to - er->from && EVENT_HEADER + r->event_len <= back;
}

/* Nothing outside of the copy is ever given, whatever records and head say. */
static void test_hostile(void **state)
{
	struct made_window *w = *state;
	struct payload_record r[64];

	srandom(test_seed());
	for (unsigned int round = 0; round < 20000; round++) {
		w->head = round % 3 ? (uint64_t)random() : (uint64_t)random() << 33;
		w->grows = round % 5 ? 0 : (uint64_t)random();
		for (unsigned int i = 0; i < 64; i++)
			r[i] = (struct payload_record){
				.event_at = (uint32_t)(w->head - (uint64_t)random() % (2 * SIZE)),
				.event_len = (uint32_t)random() % (i % 2 ? 5000 : UINT32_MAX),
				.state = (uint32_t)(i % 7 ? PAYLOAD_EVENT : PAYLOAD_FUNCTION)
					 << STATE_TYPE_SHIFT,
			};
		event_ring_load(&w->er, r, 64);
		for (unsigned int i = 0; i < 64; i++) {
			const uint8_t *data = event_ring_data(&w->er, &r[i]);

			assert_true(!data || er_covers(&w->er, &r[i]));
			assert_true(!data || (data >= w->er.copy && r[i].event_len <= EVENT_MAX &&
					      data + r[i].event_len <= w->er.copy + SIZE));
		}
	}
}

static void test_stacks(void **state)
{
	struct made_window *w = *state;
	struct payload_record r = {.seq = 7};

	assert_null(event_ring_stack(&w->er, &r));
	for (uint32_t seq = 0; seq < EVENT_STACKS + 7; seq++) {
		struct event_stack *s = event_ring_add_stack(&w->er, seq);

		s->n = 1;
		s->ip[0] = seq;
	}
	assert_int_equal(event_ring_stack(&w->er, &r)->ip[0], 7);
	r.seq = 6; /* the oldest have been forgotten */
	assert_null(event_ring_stack(&w->er, &r));
}

/* An event and a copy of a stack of so many words, or what a guest says there are. */
static struct payload_record copy_make(struct made_window *w, uint32_t n, uint32_t task_n,
				       uint32_t words)
{
	const uint32_t len = 64; /* its data ends where the copy begins */
	struct payload_stack stack = {.sp = 0x1000, .task_sp = 0x2000, .n = n, .task_n = task_n};
	uint32_t size = (uint32_t)(COPY_WORD + words * sizeof(stack.word[0]));
	struct payload_record r = event_make(w, len + size, 0xff);

	for (uint32_t i = 0; i < words; i++)
		stack.word[i] = i;
	memcpy(w->ring + r.event_at % SIZE + EVENT_HEADER + len, &stack, size);
	r.event_len = len;
	r.event_file = 128 | 1;
	return r;
}

static void test_copies(void **state)
{
	struct made_window *w = *state;
	struct payload_stack stack;
	struct payload_record r;

	for (uint32_t n = 0; n <= EVENT_COPY_WORDS; n += 16) {
		r = copy_make(w, n, n / 2, n + n / 2);
		assert_int_equal(event_ring_load(&w->er, &r, 1), 0);
		assert_int_equal(record_event_file(&r), 128);
		assert_true(event_ring_copy(&w->er, &r, &stack));
		assert_int_equal(stack.n, n);
		assert_int_equal(stack.task_n, n / 2);
		for (uint32_t i = 0; i < n + n / 2; i++)
			assert_int_equal(stack.word[i], i);
	}
	r.event_file = 128;
	assert_false(event_ring_copy(&w->er, &r, &stack));
}

/* A window's end has no data of its own. */
static void test_window_copies(void **state)
{
	struct made_window *w = *state;
	struct payload_stack stack = {.sp = 0x1000, .n = 3, .word = {7, 8, 9}};
	uint32_t size = COPY_WORD + 3 * sizeof(stack.word[0]);
	struct payload_record r = event_make(w, size, 0xff);

	memcpy(w->ring + r.event_at % SIZE + EVENT_HEADER, &stack, size);
	r = (struct payload_record){
		.parent = r.event_at | WINDOW_END_COPY | WINDOW_END_USER,
		.state = (uint32_t)PAYLOAD_IRQS_ON << STATE_TYPE_SHIFT,
	};
	assert_int_equal(event_ring_load(&w->er, &r, 1), 0);
	memset(&stack, 0, sizeof(stack));
	assert_true(event_ring_copy(&w->er, &r, &stack));
	assert_int_equal(stack.n, 3);
	assert_int_equal(stack.word[2], 9);
	r.state = (uint32_t)PAYLOAD_IRQS_OFF << STATE_TYPE_SHIFT;
	assert_false(event_ring_copy(&w->er, &r, &stack));
	r.state = (uint32_t)PAYLOAD_PREEMPT_ON << STATE_TYPE_SHIFT;
	assert_true(event_ring_copy(&w->er, &r, &stack));
	r.parent = WINDOW_END_USER;
	assert_false(event_ring_copy(&w->er, &r, &stack));
}

/* The copy is said to be longer than there may be words, or than there are. */
static void test_hostile_copies(void **state)
{
	static const struct {
		uint32_t n, task_n;
	} said[] = {{EVENT_COPY_WORDS + 1, 0},
		    {0, EVENT_COPY_TASK_WORDS + 1},
		    {UINT32_MAX, UINT32_MAX},
		    {10, 0}};
	struct made_window *w = *state;
	struct payload_stack stack;
	struct payload_record r;

	for (size_t i = 0; i < sizeof(said) / sizeof(said[0]); i++) {
		r = copy_make(w, said[i].n, said[i].task_n, 2);
		assert_int_equal(event_ring_load(&w->er, &r, 1), 0);
		assert_false(event_ring_copy(&w->er, &r, &stack));
	}
	r = copy_make(w, 1, 0, 2);
	assert_int_equal(event_ring_load(&w->er, &r, 1), 0);
	r.event_at += 64; /* its head is not all there */
	assert_false(event_ring_copy(&w->er, &r, &stack));
	r.event_at -= 64;
	r.event_len = EVENT_COPY_LEN + 1;
	assert_false(event_ring_copy(&w->er, &r, &stack));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_found),	  TEST(test_overwritten),    TEST(test_overtaken),
		TEST(test_hostile),	  TEST(test_stacks),	     TEST(test_copies),
		TEST(test_window_copies), TEST(test_hostile_copies),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
