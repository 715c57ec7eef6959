// SPDX-License-Identifier: GPL-2.0-or-later
/* test-staging.c - staging rings whose guest is this process. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "tracer/payload/staging.h"

enum {
	LENGTH = 4096,
	RING = LENGTH * PAYLOAD_RECORD_SIZE,
	VCPU = 1,
	WORDS = PAYLOAD_RECORD_SIZE / 8,
};

/* The guest's end. Its memory is words that both sides see. */
struct guest {
	struct staging s;
	_Atomic uint64_t ctl[CTL_SIZE / 8], ring[LENGTH * WORDS];
	uint64_t head, made; /* next record; how many have been made */
	uint64_t read_bytes;
	void (*on_read)(struct guest *g); /* before the ring is read */
	unsigned int reads;		  /* of the ring */
	int error;			  /* of io */
};

/* NULL where the window has no memory in this test. */
static _Atomic uint64_t *words(struct guest *g, uint64_t off, size_t len)
{
	uint64_t ctl = WINDOW_CTL + VCPU * CTL_SIZE, ring = WINDOW_RINGS + VCPU * RING;

	if (off % 8 || len % 8)
		return NULL;
	if (off >= ctl && off + len <= ctl + CTL_SIZE)
		return g->ctl + (off - ctl) / 8;
	if (off >= ring && off + len <= ring + RING)
		return g->ring + (off - ring) / 8;
	return NULL;
}

static int guest_read(void *arg, uint64_t off, void *buf, size_t len)
{
	struct guest *g = arg;
	const _Atomic uint64_t *from = words(g, off, len);
	uint64_t *to = buf;

	if (!from)
		return -EFAULT;
	if (off >= WINDOW_RINGS) {
		g->reads++;
		if (g->on_read)
			g->on_read(g);
	}
	g->read_bytes += len;
	for (size_t i = 0; i < len / 8; i++)
		to[i] = atomic_load_explicit(&from[i], memory_order_acquire);
	return g->error;
}

static int guest_write(void *arg, uint64_t off, const void *buf, size_t len)
{
	_Atomic uint64_t *to = words(arg, off, len);
	uint64_t word;

	if (!to || len != sizeof(word))
		return -EFAULT;
	memcpy(&word, buf, sizeof(word));
	atomic_store_explicit(to, word, memory_order_release);
	return 0;
}

/* What is in a record follows from its number, so that halves of two are seen. */
static void guest_store(struct guest *g, uint64_t nr)
{
	_Atomic uint64_t *r = g->ring + (nr & (LENGTH - 1)) * WORDS;
	uint64_t state = PAYLOAD_FUNCTION << STATE_TYPE_SHIFT;

	atomic_store_explicit(&r[2], nr * 5, memory_order_release);
	atomic_store_explicit(&r[1], nr * 3, memory_order_release);
	atomic_store_explicit(&r[0], nr, memory_order_release);
	atomic_store_explicit(&r[3], state | (nr & UINT32_MAX) << 32, memory_order_release);
}

static bool record_is(const struct payload_record *r, uint64_t nr)
{
	uint64_t want[3] = {nr, nr * 3, nr * 5};

	return !memcmp(r, want, sizeof(want)) && r->seq == (uint32_t)nr;
}

static uint64_t guest_reserve(struct guest *g)
{
	uint64_t nr = g->head++;

	g->made++;
	atomic_store_explicit(&g->ctl[CTL_HEAD / 8], g->head, memory_order_release);
	return nr;
}

static void guest_make(struct guest *g, unsigned int n)
{
	while (n--)
		guest_store(g, guest_reserve(g));
}

static void guest_set_head(struct guest *g, uint64_t head)
{
	g->head = head;
	atomic_store(&g->ctl[CTL_HEAD / 8], head);
}

static int setup(void **state)
{
	struct guest *g = calloc(1, sizeof(*g));
	struct staging_io io = {guest_read, guest_write, g};

	if (!g)
		return -1;
	if (staging_init(&g->s, &io, VCPU, RING))
		return -1;
	guest_set_head(g, LENGTH);
	*state = g;
	return 0;
}

static int teardown(void **state)
{
	struct guest *g = *state;

	staging_exit(&g->s);
	free(g);
	return 0;
}

/* Take once: n records from this number on, after so many that were lost. */
static void take(struct guest *g, int n, uint64_t nr, uint64_t lost)
{
	const struct payload_record *r = NULL;
	uint64_t told = UINT64_MAX;

	assert_int_equal(staging_take(&g->s, STAGING_BATCH, &r, &told), n);
	assert_int_equal(told, lost);
	for (int i = 0; i < n; i++)
		assert_true(record_is(&r[i], nr + (uint64_t)i));
	assert_int_equal(g->s.taken + g->s.lost, g->s.next - g->s.base);
}

/* Take until so many have come, from this number on, with so many lost before the first. */
static void take_rest(struct guest *g, uint64_t nr, uint64_t n, uint64_t lost)
{
	while (n) {
		const struct payload_record *r;
		uint64_t told;
		int got = staging_take(&g->s, STAGING_BATCH, &r, &told);

		assert_in_range(got, 0, n);
		for (int i = 0; i < got; i++)
			assert_true(record_is(&r[i], nr++));
		n -= (uint64_t)got;
		if (got) {
			assert_int_equal(told, lost);
			lost = 0;
		}
	}
	take(g, 0, 0, 0);
}

/* No more than there is room for; the rest is for the next time. */
static void test_most(void **state)
{
	struct guest *g = *state;
	const struct payload_record *r;

	guest_make(g, 10);
	assert_int_equal(staging_take(&g->s, 3, &r, NULL), 3);
	assert_true(record_is(&r[2], LENGTH + 2));
	assert_int_equal(staging_take(&g->s, 1, &r, NULL), 1);
	take(g, 6, LENGTH + 4, 0);
}

/* What is reserved and never written is lost when nobody can write it any more. */
static void test_end(void **state)
{
	struct guest *g = *state;

	guest_make(g, 3);
	guest_reserve(g);
	guest_make(g, 2);
	take(g, 3, LENGTH, 0);
	assert_int_equal(staging_end(&g->s), 0);
	assert_int_equal(g->s.taken, 3);
	assert_int_equal(g->s.lost, 3);
	assert_int_equal(g->s.head - g->s.base, g->made);
	take(g, 0, 0, 0);
}

static void test_empty(void **state)
{
	take(*state, 0, 0, 0);
}

static void test_take(void **state)
{
	struct guest *g = *state;

	guest_make(g, 10);
	take(g, 10, LENGTH, 0);
	take(g, 0, 0, 0);
	for (unsigned int lap = 0; lap < 40; lap++) {
		uint64_t nr = g->head;

		guest_make(g, LENGTH / 2 + lap);
		take(g, (int)(LENGTH / 2 + lap), nr, 0);
	}
	guest_make(g, LENGTH); /* full, nothing lost */
	take(g, LENGTH, g->head - LENGTH, 0);
	assert_int_equal(g->s.taken, g->made);
	assert_int_equal(g->s.lost, 0);
}

static void test_numbers_wrap(void **state)
{
	struct guest *g = *state;

	g->s.next = g->s.base = (UINT64_C(1) << 32) - 100;
	guest_set_head(g, g->s.next);
	guest_make(g, 200);
	take(g, 200, (UINT64_C(1) << 32) - 100, 0);
}

static void test_overrun(void **state)
{
	struct guest *g = *state;

	guest_make(g, LENGTH + 1);
	take(g, LENGTH - LENGTH / 8, LENGTH + 1 + LENGTH / 8, 1 + LENGTH / 8);
	guest_make(g, 10 * LENGTH + 7);
	take(g, LENGTH - LENGTH / 8, g->head - LENGTH + LENGTH / 8, 9 * LENGTH + 7 + LENGTH / 8);
	assert_int_equal(g->s.taken + g->s.lost, g->made);
	assert_int_equal(g->s.corrupt, 0);
}

/* Between the two copies. */
static void overwrite_some(struct guest *g)
{
	if (g->reads == 2)
		guest_make(g, LENGTH - 100 + 3);
}

/* The guest goes on while its records are copied: three of them are gone. */
static void test_overwritten(void **state)
{
	struct guest *g = *state;

	guest_make(g, 100);
	g->on_read = overwrite_some;
	take(g, 97, LENGTH + 3, 3);
	take(g, LENGTH - 100 + 3, LENGTH + 100, 0);
	assert_int_equal(g->s.taken + g->s.lost, g->made);
}

static void overwrite_all(struct guest *g)
{
	if (g->reads == 2)
		guest_make(g, 3 * LENGTH);
}

static void test_all_overwritten(void **state)
{
	struct guest *g = *state;

	guest_make(g, 100);
	g->on_read = overwrite_all;
	take(g, LENGTH - LENGTH / 8, g->head + 2 * (uint64_t)LENGTH + LENGTH / 8,
	     100 + 2 * LENGTH + LENGTH / 8);
	assert_int_equal(g->s.taken + g->s.lost, g->made);
}

static void store_outer(struct guest *g)
{
	guest_store(g, LENGTH + 2);
	g->on_read = NULL;
}

/* One that was interrupted holds up those behind it. */
static void test_reserved(void **state)
{
	struct guest *g = *state;

	guest_make(g, 2);
	guest_reserve(g);
	guest_make(g, 3);
	take(g, 2, LENGTH, 0);
	take(g, 0, 0, 0);
	take(g, 0, 0, 0);
	g->on_read = store_outer;
	take(g, 4, LENGTH + 2, 0);
	assert_int_equal(g->s.lost, 0);
}

static void test_reserved_for_good(void **state)
{
	struct guest *g = *state;

	guest_reserve(g);
	guest_make(g, 3);
	take(g, 0, 0, 0);
	assert_int_equal(g->s.lost, 0);
	take_rest(g, LENGTH + 1, 3, 1);
	assert_int_equal(g->s.corrupt, 0);
}

static void test_reserved_and_left_behind(void **state)
{
	struct guest *g = *state;

	guest_reserve(g);
	guest_reserve(g);
	guest_make(g, LENGTH / 2 - 2);
	take(g, 0, 0, 0);
	guest_make(g, 2);
	take_rest(g, LENGTH + 2, LENGTH / 2, 2);
}

/* While it is waited for, little is copied. */
static void test_waiting_is_cheap(void **state)
{
	struct guest *g = *state;

	guest_reserve(g);
	guest_make(g, LENGTH / 2 - 1);
	take(g, 0, 0, 0);
	g->read_bytes = 0;
	take(g, 0, 0, 0);
	assert_true(g->read_bytes <= 100 * PAYLOAD_RECORD_SIZE);
	guest_store(g, LENGTH);
	for (unsigned int looks = 0; g->s.taken < LENGTH / 2; looks++) {
		const struct payload_record *r;

		assert_true(staging_take(&g->s, STAGING_BATCH, &r, NULL) > 0);
		assert_true(looks < 3);
	}
}

static void test_lossless(void **state)
{
	struct guest *g = *state;

	atomic_store(&g->ctl[CTL_DROPPED / 8], 17);
	guest_make(g, 10);
	take(g, 10, LENGTH, 0);
	assert_int_equal(atomic_load(&g->ctl[CTL_TAIL / 8]), 0);
	assert_int_equal(g->s.dropped, 17);
	g->s.lossless = true;
	guest_make(g, 10);
	take(g, 10, LENGTH + 10, 0);
	assert_int_equal(atomic_load(&g->ctl[CTL_TAIL / 8]), LENGTH + 20);
}

static void test_head_jumps(void **state)
{
	static const uint64_t heads[] = {0, UINT64_C(1) << 63, 5, UINT64_MAX, 3};
	struct guest *g = *state;

	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
		guest_set_head(g, heads[i]);
		take(g, 0, 0, 0);
		assert_int_equal(g->s.corrupt, i + 1);
		/* Records are taken again from there on, and counted. */
		guest_make(g, 5);
		take(g, 5, heads[i], 1);
		assert_int_equal(g->s.taken + g->s.lost, g->s.next - g->s.base);
	}
}

static void test_garbage(void **state)
{
	struct guest *g = *state;

	guest_make(g, LENGTH);
	for (unsigned int i = 10; i < 20; i++)
		atomic_store(&g->ring[i * WORDS + 3], UINT64_C(0x5555555555555555) + i);
	take(g, 10, LENGTH, 0);
	take_rest(g, LENGTH + 20, LENGTH - 20, 10);
	assert_int_equal(g->s.lost, 10);
	assert_int_equal(g->s.corrupt, 10);
	assert_int_equal(g->s.taken, LENGTH - 10);
}

static void test_error(void **state)
{
	const struct payload_record *r;
	struct guest *g = *state;

	guest_make(g, 5);
	g->error = -ESRCH;
	assert_int_equal(staging_take(&g->s, STAGING_BATCH, &r, NULL), -ESRCH);
	assert_int_equal(g->s.taken, 0);
	g->error = 0;
	take(g, 5, LENGTH, 0);
}

/* --- a guest that runs ---------------------------------------------------------------------- */

enum { RUN_RECORDS = 3000000 };

struct run {
	struct guest *g;
	bool lossless;
	atomic_bool done;
};

static void *run_guest(void *arg)
{
	struct run *run = arg;
	struct guest *g = run->g;

	while (g->made < RUN_RECORDS) {
		uint64_t outer = guest_reserve(g);

		/* Now and then it is interrupted in the middle of a record. */
		if (outer % 97 == 0)
			guest_make(g, 3 + (unsigned int)(outer % 31));
		guest_store(g, outer);
		if (run->lossless) {
			while (g->head - atomic_load(&g->ctl[CTL_TAIL / 8]) > LENGTH - 64)
				sched_yield();
		} else if (outer % 5000 == 0) {
			sched_yield();
		}
	}
	atomic_store(&run->done, true);
	return NULL;
}

static void run(struct guest *g, bool lossless)
{
	struct run r = {.g = g, .lossless = lossless};
	uint64_t next = LENGTH, bad = 0;
	pthread_t thread;
	int n;

	g->s.lossless = lossless;
	atomic_store(&g->ctl[CTL_TAIL / 8], LENGTH);
	assert_int_equal(pthread_create(&thread, NULL, run_guest, &r), 0);
	for (;;) {
		bool done = atomic_load(&r.done);
		const struct payload_record *records;
		uint64_t lost;

		n = staging_take(&g->s, STAGING_BATCH, &records, &lost);
		if (n < 0 || (!n && done))
			break;
		next += n ? lost : 0;
		for (int i = 0; i < n; i++)
			bad += !record_is(&records[i], next++);
	}
	pthread_join(thread, NULL);
	assert_int_equal(n, 0);
	assert_int_equal(bad, 0);
	assert_int_equal(g->s.corrupt, 0);
	assert_int_equal(g->s.taken + g->s.lost, g->made);
	assert_true(g->s.taken > 0);
	if (lossless)
		assert_int_equal(g->s.lost, 0);
}

static void test_run(void **state)
{
	run(*state, false);
}

static void test_run_lossless(void **state)
{
	run(*state, true);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_empty),
		TEST(test_most),
		TEST(test_end),
		TEST(test_take),
		TEST(test_numbers_wrap),
		TEST(test_overrun),
		TEST(test_overwritten),
		TEST(test_all_overwritten),
		TEST(test_reserved),
		TEST(test_reserved_for_good),
		TEST(test_reserved_and_left_behind),
		TEST(test_waiting_is_cheap),
		TEST(test_lossless),
		TEST(test_head_jumps),
		TEST(test_garbage),
		TEST(test_error),
		TEST(test_run),
		TEST(test_run_lossless),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
