// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test-ring-random.c - long random sequences of everything that can be done to a ring buffer,
 * checked after each step against what must be true: nothing is read twice, out of order or
 * damaged, what is missing is counted, and the counts add up.
 */
#include "tests/seed.h"
#include "tests/unit/ring-check.h"

#include <errno.h>

enum { LOOKERS = 3 };

/* What a reader has to get next. */
struct follow {
	struct ring_cursor *c;
	uint64_t next;
};

struct model {
	struct ring *r;
	struct series_writer w;
	uint64_t random;
	uint64_t start;	  /* number of the first event after the last reset */
	uint64_t read;	  /* consumed since then */
	uint64_t lost;	  /* told to consumers since then */
	uint64_t refused; /* in produce/consume mode, since then */
	struct follow consume;
	struct follow look[LOOKERS];
};

static uint64_t pick(struct model *m, uint64_t below)
{
	m->random++;
	return mix(m->random) % below;
}

static uint64_t follow_event(struct model *m, struct follow *f, const struct ring_event *ev)
{
	uint64_t nr = (uint64_t)series_check(&m->w.s, ev);

	assert_int_equal(nr, f->next + ev->lost);
	f->next = nr + 1;
	return ev->lost;
}

static void do_write(struct model *m)
{
	for (uint64_t n = pick(m, 400); n; n--)
		m->refused += !series_write(&m->w, m->r);
}

static void do_discard(struct model *m)
{
	size_t len = pick(m, RING_MAX_DATA + 1);

	if (ring_reserve(m->r, len, m->w.ts + pick(m, UINT64_C(1) << 60)))
		ring_discard(m->r);
	else
		m->refused++;
}

static void do_consume(struct model *m)
{
	for (uint64_t n = pick(m, 500); n; n--) {
		struct ring_event ev, peek;
		bool more = ring_peek(m->consume.c, &peek);

		peek.data = NULL; /* another buffer's */
		assert_int_equal(ring_next(m->consume.c, &ev), more);
		if (!more)
			return;
		assert_int_equal(peek.ts, ev.ts);
		assert_int_equal(peek.lost, ev.lost);
		m->lost += follow_event(m, &m->consume, &ev);
		m->read++;
	}
}

static void check_page(struct model *m, const uint8_t *page, int len)
{
	uint64_t lost, commit;
	struct ring_walk walk;
	struct ring_event ev;
	int ret;

	memcpy(&commit, page + 8, sizeof(commit));
	assert_int_equal(commit & RING_COMMIT_MASK, len);
	assert_int_equal(ring_walk_page(&walk, page, &lost), 0);
	while ((ret = ring_walk_next(&walk, &ev)) > 0) {
		if (lost == RING_LOST_UNKNOWN) /* no room for the number: take it as it is */
			lost = (uint64_t)series_check(&m->w.s, &ev) - m->consume.next;
		ev.lost = lost;
		m->lost += follow_event(m, &m->consume, &ev);
		m->read++;
		lost = 0;
	}
	assert_int_equal(ret, 0);
	for (int i = len + 8; i < RING_PAGE_DATA; i++)
		assert_int_equal(page[RING_PAGE_HDR + i], 0);
}

static void do_read_page(struct model *m)
{
	size_t len = pick(m, 4) ? RING_PAGE_SIZE : pick(m, RING_PAGE_SIZE + 1);
	bool full = pick(m, 2);
	uint8_t page[RING_PAGE_SIZE];
	struct ring_stats st;
	int ret = ring_read_page(m->r, page, len, full);

	if (ret > 0) {
		assert_true((size_t)ret + RING_PAGE_HDR <= len);
		check_page(m, page, ret);
	} else if (ret == -EAGAIN && !full) {
		ring_get_stats(m->r, &st);
		assert_int_equal(st.entries, 0);
	} else {
		assert_true(ret == -EAGAIN || (ret == -EINVAL && len < RING_PAGE_SIZE));
	}
}

static void do_look(struct model *m)
{
	struct follow *f = &m->look[pick(m, LOOKERS)];
	struct ring_event ev;

	if (!pick(m, 8)) {
		ring_cursor_free(f->c);
		f->c = NULL;
	}
	if (!f->c) {
		f->c = ring_look(m->r);
		f->next = m->w.nr;
		/* It starts where consumers are, or behind what was overwritten since. */
		if (ring_peek(f->c, &ev))
			f->next = (uint64_t)series_check(&m->w.s, &ev) - ev.lost;
		assert_true(f->next >= m->consume.next);
	}
	for (uint64_t n = pick(m, 600); n && ring_next(f->c, &ev); n--)
		follow_event(m, f, &ev);
}

static void do_resize(struct model *m)
{
	assert_int_equal(ring_resize(m->r, pick(m, 12) * RING_PAGE_DATA), 0);
}

static void do_reset(struct model *m)
{
	if (pick(m, 4))
		return;
	ring_reset(m->r);
	m->start = m->consume.next = m->w.nr;
	m->read = m->lost = m->refused = 0;
	for (int i = 0; i < LOOKERS; i++) {
		struct ring_event ev;

		if (m->look[i].c)
			assert_false(ring_peek(m->look[i].c, &ev));
		m->look[i].next = m->w.nr;
	}
}

static void check_stats(struct model *m)
{
	struct ring_stats st;

	ring_get_stats(m->r, &st);
	assert_int_equal(st.entries + st.overrun + st.read, m->w.nr - m->start);
	assert_int_equal(st.read, m->read);
	assert_int_equal(st.dropped, m->refused);
	assert_true(m->lost <= st.overrun);
	assert_true(st.bytes <= ring_size(m->r) + RING_PAGE_DATA);
	assert_true(st.bytes >= st.entries * 16);
}

/* Read all there is: then nothing is left, and every overrun has been told. */
static void check_drained(struct model *m)
{
	struct ring_stats st;
	struct ring_event ev;

	while (ring_next(m->consume.c, &ev)) {
		m->lost += follow_event(m, &m->consume, &ev);
		m->read++;
	}
	ring_get_stats(m->r, &st);
	assert_int_equal(st.entries, 0);
	assert_int_equal(st.bytes, 0);
	assert_int_equal(st.overrun, m->lost);
	assert_int_equal(m->consume.next, m->w.nr);
}

static void run_model(uint64_t seed, size_t max_len, unsigned int jump)
{
	static void (*const steps[])(struct model *) = {
		do_write, do_write, do_write,	do_consume, do_consume, do_read_page,
		do_look,  do_look,  do_discard, do_resize,  do_reset,
	};
	struct model m = {
		.r = ring_new(4 * RING_PAGE_DATA),
		.w.s = {.seed = seed, .max_len = max_len, .jump = jump},
		.random = seed << 32,
	};

	m.consume.c = ring_consume(m.r);
	for (int i = 0; i < 1500; i++) {
		if (!pick(&m, 40))
			ring_set_overwrite(m.r, pick(&m, 2));
		steps[pick(&m, sizeof(steps) / sizeof(steps[0]))](&m);
		check_stats(&m);
		if (!pick(&m, 30))
			check_drained(&m);
	}
	check_drained(&m);
	for (int i = 0; i < LOOKERS; i++)
		ring_cursor_free(m.look[i].c);
	ring_cursor_free(m.consume.c);
	ring_free(m.r);
}

static void test_small_events(void **state)
{
	(void)state;
	for (uint64_t i = 1; i <= 8; i++)
		run_model(test_seed() + i, 24, 0);
}

static void test_time_jumps(void **state)
{
	(void)state;
	for (uint64_t i = 11; i <= 18; i++)
		run_model(test_seed() + i, 120, 3);
}

static void test_any_size(void **state)
{
	(void)state;
	for (uint64_t i = 21; i <= 28; i++)
		run_model(test_seed() + i, RING_MAX_DATA, 20);
}

/* Damaged pages: an end or an error, never a byte outside of the page. */
static void test_damaged_pages(void **state)
{
	struct ring *r = ring_new(2 * RING_PAGE_DATA);
	struct series_writer w = {.s = {.seed = test_seed(), .max_len = 200, .jump = 4}};
	uint8_t page[RING_PAGE_SIZE], *exact = malloc(RING_PAGE_SIZE);
	uint64_t random = (uint64_t)test_seed() << 32;

	(void)state;
	for (int i = 0; i < 100; i++)
		series_write(&w, r);
	assert_true(ring_read_page(r, page, sizeof(page), true) > 0);
	for (int round = 0; round < 20000; round++) {
		struct ring_walk walk;
		struct ring_event ev;
		uint64_t lost, sum = 0;

		memcpy(exact, page, sizeof(page));
		for (uint64_t n = mix(++random) % 8; n; n--) {
			uint64_t at = mix(++random) % (n % 2 ? 24 : RING_PAGE_SIZE);

			exact[at] = (uint8_t)mix(++random);
		}
		if (ring_walk_page(&walk, exact, &lost))
			continue;
		while (ring_walk_next(&walk, &ev) > 0) {
			for (size_t i = 0; i < ev.len; i++)
				sum += ((const uint8_t *)ev.data)[i];
		}
		assert_true(sum < UINT64_C(255) * RING_PAGE_SIZE);
		assert_int_equal(walk.pos, walk.end);
	}
	free(exact);
	ring_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_small_events),
		cmocka_unit_test(test_time_jumps),
		cmocka_unit_test(test_any_size),
		cmocka_unit_test(test_damaged_pages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
