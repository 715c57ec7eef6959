// SPDX-License-Identifier: GPL-2.0-or-later
/* test-sched-ticks.c - the kernel's clock between ticks, against what the kernel would have said.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tracer/guest/sched-ticks.h"

#include "tests/seed.h"

#define MS   UINT64_C(1000000)
#define TICK (4 * MS)

static struct sched_ticks one, other;

static int set_up(void **state)
{
	(void)state;
	memset(&one, 0, sizeof(one));
	memset(&other, 0, sizeof(other));
	return 0;
}

static uint64_t at(uint64_t raw)
{
	return sched_ticks_time(&one, &one, raw);
}

static void counted(uint64_t raw, uint64_t clock)
{
	sched_ticks_note(&one, raw, clock, TICK, SCHED_TICK_COUNTED, (int64_t)raw);
}

static void goes_on(uint64_t raw, uint64_t clock)
{
	sched_ticks_note(&one, raw, clock, TICK, SCHED_TICK_GOES_ON, (int64_t)raw);
}

static void before_the_first_tick(void **state)
{
	uint64_t raw;

	(void)state;
	assert_int_equal(at(5 * MS), 5 * MS);
	assert_false(sched_ticks_latest(&one, &raw));
	sched_ticks_end(&one, 7); /* there was none to go on from */
	assert_int_equal(at(5 * MS), 5 * MS);
	counted(100 * MS, 90 * MS); /* a guest that has been running for long */
	assert_int_equal(at(95 * MS), 85 * MS);
	sched_ticks_begin(&one);
	assert_int_equal(at(80 * MS), 80 * MS); /* one that has been watched from the start */
	assert_int_equal(at(95 * MS), 90 * MS);
	assert_true(sched_ticks_latest(&one, &raw) && raw == 100 * MS);
}

static void a_cpu_has_the_first_ones_time_until_it_ticks(void **state)
{
	(void)state;
	counted(100 * MS, 90 * MS);
	assert_int_equal(sched_ticks_time(&other, &one, 101 * MS), 91 * MS);
	sched_ticks_note(&other, 102 * MS, 95 * MS, TICK, SCHED_TICK_COUNTED, 0);
	assert_int_equal(sched_ticks_time(&other, &one, 101 * MS), 91 * MS);
	assert_int_equal(sched_ticks_time(&other, &one, 103 * MS), 96 * MS);
}

static void between_ticks(void **state)
{
	uint64_t last;

	(void)state;
	counted(100 * MS, 90 * MS);
	assert_int_equal(at(100 * MS), 90 * MS);
	assert_int_equal(at(103 * MS), 93 * MS);
	last = at(104 * MS);
	assert_int_equal(last, 94 * MS);
	for (uint64_t late = 1; late < 1000; late *= 2) { /* it creeps, and never stands */
		uint64_t now = at(104 * MS + late * MS);

		assert_true(now > last && now < 94 * MS + TICK / 16);
		last = now;
	}
	assert_true(at(UINT64_MAX) <= 94 * MS + TICK / 16);
	goes_on(110 * MS, 94 * MS);
	assert_int_equal(at(111 * MS), 95 * MS);
	assert_int_equal(at(150 * MS), 134 * MS);
	assert_int_equal(at(103 * MS), 93 * MS); /* what was before */
}

/* A tick at which the kernel's count has not gone on: its clock waits. */
static void a_tick_without_time(void **state)
{
	uint64_t last;

	(void)state;
	counted(100 * MS, 90 * MS);
	counted(103 * MS, 90 * MS);
	last = at(103 * MS - 1);
	for (uint64_t raw = 103 * MS; raw < 106 * MS; raw += MS / 4) {
		uint64_t now = at(raw);

		assert_true(now > last && now >= 93 * MS && now < 93 * MS + TICK / 16);
		last = now;
	}
	assert_int_equal(at(106 * MS + MS / 2), 93 * MS + MS / 2);
}

static void missed_ticks_are_spread(void **state)
{
	(void)state;
	counted(100 * MS, 90 * MS);
	sched_ticks_looked(&one, 101 * MS);
	counted(140 * MS, 110 * MS); /* 5 of 10, who knows which */
	assert_int_equal(at(120 * MS), 100 * MS);
	assert_int_equal(at(139 * MS), 109 * MS + MS / 2);
	assert_int_equal(at(141 * MS), 111 * MS);
	sched_ticks_looked(&one, 179 * MS);
	counted(180 * MS, 130 * MS); /* none was missed: it was late */
	assert_true(at(179 * MS) < 114 * MS + TICK / 16);
}

static void the_last_tick(void **state)
{
	(void)state;
	goes_on(100 * MS, 90 * MS);
	goes_on(104 * MS, 94 * MS);
	sched_ticks_end(&one, (uint64_t)(-10 * (int64_t)MS));
	sched_ticks_end(&one, 3); /* it is over */
	assert_int_equal(at(102 * MS), 92 * MS);
	assert_int_equal(at(104 * MS), 94 * MS);
	assert_int_equal(at(1004 * MS), 994 * MS);
	goes_on(1100 * MS, 1095 * MS); /* the kernel has found that the TSC is not stable */
	assert_int_equal(at(1101 * MS), 1096 * MS);
	assert_int_equal(at(1004 * MS), 994 * MS);
}

static void old_ticks_are_forgotten(void **state)
{
	(void)state;
	for (uint64_t i = 0; i < 3 * SCHED_TICKS; i++)
		goes_on((i + 1) * TICK, i * TICK);
	assert_int_equal(at((2 * SCHED_TICKS + 1) * TICK), 2 * SCHED_TICKS * TICK);
	assert_int_equal(at(10 * TICK), 9 * TICK); /* from the oldest one backwards */
}

/* A CPU's clock as kernel/sched/clock.c keeps it, read so often: it does not go on by itself. */
#define STEP (MS / 8)

struct model {
	uint64_t raw, gtod, clock;
};

static uint64_t model_read(struct model *m, uint64_t now)
{
	uint64_t want = m->gtod + (now - m->raw), most = m->gtod + TICK;

	if (want > most)
		want = most;
	if (want > m->clock)
		m->clock = want;
	return m->clock;
}

/* Ticks come early and late; what is counted of them is lost when they are late. */
static void it_is_the_kernels(void **state)
{
	struct model m = {.raw = 50 * MS, .gtod = 50 * MS};
	uint64_t now = 50 * MS, last = 0;

	(void)state;
	srandom(test_seed());
	counted(m.raw, m.gtod);
	for (int i = 0; i < 2000; i++) {
		uint64_t next = now + TICK / 2 + (uint64_t)random() % TICK;

		if (random() % 20 == 0)
			next += (uint64_t)random() % (20 * TICK);
		for (; now < next; now += STEP) {
			uint64_t ours = at(now), its = model_read(&m, now);

			assert_true(ours >= last && ours >= its && ours - its <= TICK / 16 + STEP);
			last = ours;
		}
		now = next;
		m.raw = now;
		m.gtod += random() % 10 ? TICK : 0; /* another CPU counts, and may be late */
		sched_ticks_looked(&one, (int64_t)now - 1);
		counted(m.raw, m.gtod);
	}
}

static uint64_t any(void)
{
	uint64_t bits = (uint64_t)random() << 33 ^ (uint64_t)random();

	return bits >> random() % 64 << random() % 8;
}

/* A guest may have anything there. */
static void nonsense_does_no_harm(void **state)
{
	(void)state;
	srandom(test_seed());
	for (int i = 0; i < 200000; i++) {
		sched_ticks_note(&one, any(), any(), any(),
				 random() % 2 ? SCHED_TICK_COUNTED : SCHED_TICK_GOES_ON,
				 (int64_t)(any() >> 1));
		if (random() % 1000 == 0)
			sched_ticks_end(&one, any());
		sched_ticks_time(&one, &other, any());
		sched_ticks_time(&other, &one, any());
	}
}

/* Its records come that late where the host is slow: some seconds, before the clock went wrong. */
static void what_was_seconds_ago_is_known(void **state)
{
	const uint64_t ticks = 1500, lost = 700, ns = 20 * MS;

	(void)state;
	for (uint64_t i = 1; i <= ticks; i++)
		counted(i * TICK, i * TICK - (i < lost ? 0 : ns));
	assert_int_equal(at(10 * TICK + MS), 10 * TICK + MS);
	assert_int_equal(at((lost - 1) * TICK + MS), (lost - 1) * TICK + MS);
	assert_int_equal(at((lost + 100) * TICK + MS), (lost + 100) * TICK + MS - ns);
	assert_int_equal(at(ticks * TICK + MS), ticks * TICK + MS - ns);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(before_the_first_tick, set_up),
		cmocka_unit_test_setup(a_cpu_has_the_first_ones_time_until_it_ticks, set_up),
		cmocka_unit_test_setup(between_ticks, set_up),
		cmocka_unit_test_setup(a_tick_without_time, set_up),
		cmocka_unit_test_setup(missed_ticks_are_spread, set_up),
		cmocka_unit_test_setup(the_last_tick, set_up),
		cmocka_unit_test_setup(old_ticks_are_forgotten, set_up),
		cmocka_unit_test_setup(what_was_seconds_ago_is_known, set_up),
		cmocka_unit_test_setup(it_is_the_kernels, set_up),
		cmocka_unit_test_setup(nonsense_does_no_harm, set_up),
	};

	return cmocka_run_group_tests_name("sched-ticks", tests, NULL, NULL);
}
