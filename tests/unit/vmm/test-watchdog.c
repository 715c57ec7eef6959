// SPDX-License-Identifier: GPL-2.0-or-later
/* test-watchdog.c - how long a guest stands is counted, and one that stands too long is let go. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "vmm/core/backend.h"

#define LONG_MS 3600000 /* longer than any test */

struct fake {
	struct machine m;
	atomic_uint let_go, stuck;
	bool complains; /* whoever has held it, of what fails now */
	bool knows;	/* and learns why, if he asks */
};

static void nothing(struct machine *m)
{
	(void)m;
}

static void let_go(struct machine *m)
{
	struct fake *f = (struct fake *)m;
	struct machine_event ev;

	f->knows = f->complains && machine_has_ended(m, &ev) && strstr(ev.text, "was let go");
	if (f->complains)
		machine_end(m, MACHINE_EVENT_ERROR, 0, "the connection is lost");
	f->let_go++;
}

static const struct machine_ops ops = {
	.pause = nothing, .resume = nothing, .kick_locked = nothing, .let_go = let_go};

static void stuck(void *arg)
{
	struct fake *f = arg;

	f->stuck++;
}

static void fake_init(struct fake *f)
{
	*f = (struct fake){0};
	assert_int_equal(machine_init(&f->m, &ops), 0);
}

static void fake_watch(struct fake *f, uint64_t ms)
{
	const struct machine_limits limits = {.stand_ms = ms, .stuck = stuck};

	assert_int_equal(stand_watch(&f->m, &limits, LONG_MS, f), 0);
}

static void fake_exit(struct fake *f)
{
	stand_unwatch(&f->m);
	machine_exit(&f->m);
}

/* It has come true, or comes true. */
static void wait_for(const atomic_uint *count)
{
	const struct timespec moment = {.tv_nsec = 1000000};

	while (!*count)
		nanosleep(&moment, NULL);
}

/* --- counting -----------------------------------------------------------------------------------
 */

static void test_pauses_are_counted(void **state)
{
	struct machine_pauses p;
	struct fake f;
	uint64_t rows = 0;

	(void)state;
	fake_init(&f);
	machine_pause_for(&f.m, "reading");
	machine_pause_for(&f.m, "writing"); /* they nest */
	machine_resume(&f.m);
	machine_get_pauses(&f.m, &p);
	assert_int_equal(p.count, 0); /* it stands still */
	machine_resume(&f.m);
	machine_serve_begin(&f.m, "answering");
	machine_serve_end(&f.m);
	machine_get_pauses(&f.m, &p);
	assert_int_equal(p.count, 2);
	assert_true(p.total_ns >= p.longest_ns && p.longest_ns > 0);
	assert_true(!strcmp(p.longest_what, "reading") || !strcmp(p.longest_what, "answering"));
	for (unsigned int i = 0; i < MACHINE_PAUSE_ROWS; i++)
		rows += p.row[i];
	assert_int_equal(rows, 2);
	assert_int_equal(p.limit_ns, 0);
	assert_false(p.exceeded);
	fake_exit(&f);
}

/* The row that a pause of this length is counted in. */
static unsigned int row_of(int64_t ns)
{
	struct machine_pauses p;
	unsigned int row = 0;
	struct fake f;

	fake_init(&f);
	machine_pause(&f.m);
	f.m.stand.since -= ns;
	machine_resume(&f.m);
	machine_get_pauses(&f.m, &p);
	while (!p.row[row])
		row++;
	assert_true(p.longest_ns >= (uint64_t)ns);
	fake_exit(&f);
	return row;
}

static void test_rows(void **state)
{
	(void)state;
	/* A pause takes a while in itself: in the middle of a row that does not matter. */
	assert_int_equal(row_of(3000000), 12);			       /* 2048 to 4096 us */
	assert_int_equal(row_of(1500000000), 21);		       /* 1.05 to 2.1 s */
	assert_int_equal(row_of(90000000000), MACHINE_PAUSE_ROWS - 1); /* and all that are longer */
}

/* --- the limit ----------------------------------------------------------------------------------
 */

/* Whatever it was that was said last; and only once. */
static void test_too_long(void **state)
{
	struct machine_pauses p;
	struct machine_event ev;
	struct fake f;

	(void)state;
	fake_init(&f);
	fake_watch(&f, 1);
	machine_pause_for(&f.m, "reading its lists");
	machine_pause_for(&f.m, "scanning stacks");
	assert_int_equal(machine_wait(&f.m, &ev, -1), 0);
	assert_int_equal(ev.type, MACHINE_EVENT_ERROR);
	assert_non_null(strstr(ev.text, "stood for more than 1 ms"));
	assert_non_null(strstr(ev.text, "hvtrace was scanning stacks"));
	machine_get_pauses(&f.m, &p);
	assert_true(p.exceeded);
	assert_int_equal(p.limit_ns, 1000000);
	assert_string_equal(p.longest_what, "scanning stacks");
	machine_resume(&f.m);
	machine_resume(&f.m);
	machine_pause(&f.m);
	machine_resume(&f.m);
	fake_exit(&f);
	assert_int_equal(f.let_go, 1);
	assert_int_equal(f.stuck, 0);
}

/* Who holds it may hold the machine's lock as well, waiting for somebody who never answers. */
static void test_lock_is_held(void **state)
{
	struct fake f;

	(void)state;
	fake_init(&f);
	fake_watch(&f, 1);
	pthread_mutex_lock(&f.m.lock);
	machine_pause_for(&f.m, "waiting");
	wait_for(&f.let_go); /* for ever, where it is the lock that is waited for */
	pthread_mutex_unlock(&f.m.lock);
	machine_resume(&f.m);
	fake_exit(&f);
}

/* What fails because it was let go is not the reason for that. */
static void test_reason(void **state)
{
	struct machine_event ev;
	struct fake f;

	(void)state;
	fake_init(&f);
	f.complains = true;
	fake_watch(&f, 1);
	machine_pause_for(&f.m, "waiting");
	assert_int_equal(machine_wait(&f.m, &ev, -1), 0);
	assert_int_equal(ev.type, MACHINE_EVENT_ERROR);
	assert_non_null(strstr(ev.text, "while hvtrace was waiting, so it was let go"));
	assert_true(f.knows);
	machine_resume(&f.m);
	fake_exit(&f);
	/* One that has ended before has its own. */
	fake_init(&f);
	fake_watch(&f, 1);
	machine_end(&f.m, MACHINE_EVENT_RESET, 0, "the guest was reset");
	machine_pause(&f.m);
	wait_for(&f.let_go);
	machine_resume(&f.m);
	fake_exit(&f);
	assert_int_equal(f.m.end.type, MACHINE_EVENT_RESET);
	assert_string_equal(f.m.end.text, "the guest was reset");
}

/* A vCPU that waits for the host stands as well. */
static void test_serving_too_long(void **state)
{
	struct fake f;

	(void)state;
	fake_init(&f);
	fake_watch(&f, 1);
	machine_serve_begin(&f.m, "answering a call");
	wait_for(&f.let_go);
	machine_serve_end(&f.m);
	fake_exit(&f);
}

/* Nothing but the end of the process will end it: whoever owns it is told. */
static void test_stuck(void **state)
{
	struct fake f;

	(void)state;
	fake_init(&f);
	fake_watch(&f, 1);
	machine_pause_for(&f.m, "looping");
	wait_for(&f.stuck);
	assert_int_equal(f.let_go, 1);
	machine_resume(&f.m);
	fake_exit(&f);
}

/* However long it is watched, and however often it stands. */
static void test_short_enough(void **state)
{
	struct fake f;

	(void)state;
	fake_init(&f);
	fake_watch(&f, LONG_MS);
	for (unsigned int i = 0; i < 10000; i++) {
		machine_pause(&f.m);
		machine_resume(&f.m);
	}
	assert_false(machine_has_ended(&f.m, NULL));
	fake_exit(&f);
	assert_int_equal(f.let_go, 0);
}

/* The default holds where nothing was asked for, and may become shorter while it stands. */
static void test_default(void **state)
{
	struct fake f;

	(void)state;
	fake_init(&f);
	fake_watch(&f, LONG_MS);
	machine_pause(&f.m);
	stand_set_default(&f.m, 1);
	assert_int_equal(f.m.stand.sum.limit_ns, (uint64_t)LONG_MS * 1000000);
	machine_resume(&f.m);
	fake_exit(&f);

	fake_init(&f);
	fake_watch(&f, 0);
	machine_pause(&f.m);
	stand_set_default(&f.m, 1);
	wait_for(&f.let_go);
	machine_resume(&f.m);
	fake_exit(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pauses_are_counted),
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_too_long),
		cmocka_unit_test(test_lock_is_held),
		cmocka_unit_test(test_reason),
		cmocka_unit_test(test_serving_too_long),
		cmocka_unit_test(test_stuck),
		cmocka_unit_test(test_short_enough),
		cmocka_unit_test(test_default),
	};

	return cmocka_run_group_tests_name("watchdog", tests, NULL, NULL);
}
