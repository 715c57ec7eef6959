// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test-ring-threads.c - a ring buffer with its writer and readers of every kind at the same time.
 * Worth most under ThreadSanitizer (make TSAN=1).
 */
#include "tests/seed.h"
#include "tests/unit/ring-check.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

enum { EVENTS = 200000, MAX_THREADS = 8 };

/* Threads count what is wrong: cmocka's assertions belong to the main thread. */
struct shared {
	struct ring *r;
	struct series s;
	bool resets; /* events may vanish untold */
	atomic_bool done;
	_Atomic uint64_t bad;
	_Atomic uint64_t read, lost; /* by consumers */
};

static void *writer(void *arg)
{
	struct shared *sh = arg;
	struct series_writer w = {.s = sh->s};

	while (w.nr < EVENTS) {
		if (!series_write(&w, sh->r)) { /* full, in produce/consume mode */
			sched_yield();
			continue;
		}
		if (w.nr % 50 == 0 && ring_reserve(sh->r, 100, w.ts))
			ring_discard(sh->r);
	}
	atomic_store(&sh->done, true);
	return NULL;
}

/* Follow a cursor to the end: in order, undamaged, and every gap is told. */
static void follow(struct shared *sh, struct ring_cursor *c, bool shared_position)
{
	uint64_t next = 0, seen = 0;

	for (;;) {
		bool done = atomic_load(&sh->done);
		struct ring_event ev;
		int64_t nr;

		if (!ring_next(c, &ev)) {
			if (done)
				return;
			sched_yield();
			continue;
		}
		nr = series_check(&sh->s, &ev);
		if (nr < 0 || (uint64_t)nr < next + ev.lost)
			sh->bad++;
		/* A looker's first event is the oldest at that time. */
		if (seen++ && !shared_position && !sh->resets && (uint64_t)nr != next + ev.lost)
			sh->bad++;
		next = (uint64_t)nr + 1;
		if (shared_position) {
			sh->read++;
			sh->lost += ev.lost;
		}
	}
}

static void *consumer(void *arg)
{
	struct shared *sh = arg;
	struct ring_cursor *c = ring_consume(sh->r);

	follow(sh, c, true);
	ring_cursor_free(c);
	return NULL;
}

static void *looker(void *arg)
{
	struct shared *sh = arg;
	struct ring_cursor *c = ring_look(sh->r);

	follow(sh, c, false);
	ring_cursor_free(c);
	return NULL;
}

static void read_raw_page(struct shared *sh, const uint8_t *page, uint64_t *next)
{
	struct ring_walk walk;
	struct ring_event ev;
	uint64_t lost;

	if (ring_walk_page(&walk, page, &lost)) {
		sh->bad++;
		return;
	}
	while (ring_walk_next(&walk, &ev) > 0) {
		int64_t nr = series_check(&sh->s, &ev);

		if (nr < 0 || (uint64_t)nr < *next)
			sh->bad++;
		*next = (uint64_t)nr + 1;
		sh->read++;
	}
	if (lost != RING_LOST_UNKNOWN)
		sh->lost += lost;
}

static void *raw_consumer(void *arg)
{
	uint8_t page[RING_PAGE_SIZE];
	struct shared *sh = arg;
	uint64_t next = 0;

	for (;;) {
		bool done = atomic_load(&sh->done);
		int ret = ring_read_page(sh->r, page, sizeof(page), !done);

		if (ret > 0)
			read_raw_page(sh, page, &next);
		else if (done)
			return NULL;
		else
			sched_yield();
	}
}

static void *resizer(void *arg)
{
	struct shared *sh = arg;

	for (uint64_t i = 0; !atomic_load(&sh->done); i++) {
		if (ring_resize(sh->r, mix(sh->s.seed + i) % 20 * RING_PAGE_DATA))
			sh->bad++;
		sched_yield();
	}
	return NULL;
}

static void *watcher(void *arg)
{
	struct shared *sh = arg;
	uint64_t gone = 0;

	while (!atomic_load(&sh->done)) {
		struct ring_stats st;

		ring_get_stats(sh->r, &st);
		if (!sh->resets && (st.overrun + st.read < gone || st.entries > EVENTS))
			sh->bad++;
		gone = st.overrun + st.read;
		sched_yield();
	}
	return NULL;
}

static void *resetter(void *arg)
{
	struct shared *sh = arg;

	while (!atomic_load(&sh->done)) {
		ring_reset(sh->r);
		sched_yield();
	}
	return NULL;
}

static void *switcher(void *arg)
{
	struct shared *sh = arg;

	for (bool on = false; !atomic_load(&sh->done); on = !on) {
		ring_record(sh->r, on);
		sched_yield();
	}
	ring_record(sh->r, true);
	return NULL;
}

typedef void *thread_fn(void *);

static void run_threads(struct shared *sh, thread_fn *const *fns, bool overwrite)
{
	pthread_t thread[MAX_THREADS];
	int nr = 0;

	sh->r = ring_new(6 * RING_PAGE_DATA);
	assert_non_null(sh->r);
	ring_set_overwrite(sh->r, overwrite);
	for (; fns[nr]; nr++)
		assert_int_equal(pthread_create(&thread[nr], NULL, fns[nr], sh), 0);
	while (nr)
		pthread_join(thread[--nr], NULL);
	assert_int_equal(sh->bad, 0);
}

static void check_end(struct shared *sh, bool consumed)
{
	struct ring_stats st;

	ring_get_stats(sh->r, &st);
	assert_int_equal(st.entries + st.overrun + st.read, EVENTS);
	assert_int_equal(st.read, sh->read);
	if (consumed) {
		assert_int_equal(st.entries, 0);
		assert_int_equal(st.bytes, 0);
	}
	ring_free(sh->r);
}

static void test_consume(void **state)
{
	thread_fn *const fns[] = {consumer, writer, NULL};
	struct shared sh = {.s = {.seed = test_seed() + 1u, .max_len = 60, .jump = 100}};

	(void)state;
	run_threads(&sh, fns, true);
	assert_int_equal(sh.read + sh.lost, EVENTS);
	check_end(&sh, true);
}

/* Produce/consume: nothing is lost, the writer tries again. */
static void test_produce_consume(void **state)
{
	thread_fn *const fns[] = {consumer, looker, writer, NULL};
	struct shared sh = {.s = {.seed = test_seed() + 2u, .max_len = 300, .jump = 50}};

	(void)state;
	run_threads(&sh, fns, false);
	assert_int_equal(sh.read, EVENTS);
	check_end(&sh, true);
}

static void test_look(void **state)
{
	thread_fn *const fns[] = {looker, looker, writer, watcher, NULL};
	struct shared sh = {.s = {.seed = test_seed() + 3u, .max_len = 60, .jump = 100}};

	(void)state;
	run_threads(&sh, fns, true);
	check_end(&sh, false);
}

static void test_raw(void **state)
{
	thread_fn *const fns[] = {raw_consumer, looker, writer, NULL};
	struct shared sh = {.s = {.seed = test_seed() + 4u, .max_len = 60, .jump = 100}};

	(void)state;
	run_threads(&sh, fns, true);
	check_end(&sh, true);
}

static void test_everything(void **state)
{
	thread_fn *const fns[] = {consumer, consumer, raw_consumer, looker,
				  resizer,  watcher,  writer,	    NULL};
	struct shared sh = {.s = {.seed = test_seed() + 5u, .max_len = 200, .jump = 30}};

	(void)state;
	run_threads(&sh, fns, true);
	check_end(&sh, true);
}

static void test_reset(void **state)
{
	thread_fn *const fns[] = {consumer, looker,   raw_consumer, resetter,
				  resizer,  switcher, writer,	    NULL};
	struct shared sh = {.s = {.seed = test_seed() + 6u, .max_len = 100, .jump = 40},
			    .resets = true};

	(void)state;
	run_threads(&sh, fns, true);
	ring_free(sh.r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_consume),	   cmocka_unit_test(test_produce_consume),
		cmocka_unit_test(test_look),	   cmocka_unit_test(test_raw),
		cmocka_unit_test(test_everything), cmocka_unit_test(test_reset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
