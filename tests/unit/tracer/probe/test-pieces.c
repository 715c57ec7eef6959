// SPDX-License-Identifier: GPL-2.0-or-later
/* test-pieces.c - many traps are set and cleared a few at a time, and the guest runs in between. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>

#include "tests/unit/trace-guest.h"
#include "tracer/internal.h"
#include "tracer/probe/pieces.h"
#include "tracer/probe/probe.h"
#include "tracer/record/record.h"

enum {
	MANY = 5000,
	LIMIT_NS = 1000000000, /* machine_get_pauses() of fake-machine.h */
	EXITS = 2000,	       /* from there on they are returns */
	GUARDS = 4990,
};

static struct {
	struct trace *t;
	bool in[MANY];
	size_t now_in, this_pause, most; /* in one pause */
	int64_t ns, per_trap, stood, longest, rested;
	uint32_t order[2 * MANY]; /* in which they were set and cleared: the first ones */
	size_t done;
	size_t fail_at; /* when so many are in, setting fails; 0: never */
	bool cancelled;
	unsigned int runs, notes;
	char note[256];
	void (*between)(void); /* what others do while the guest runs, once */
} world;

/* --- a slow engine, and its clock ----------------------------------------------------------- */

static void work(size_t n)
{
	assert_true(fake.paused);
	world.this_pause += n;
	world.ns += (int64_t)n * world.per_trap;
	world.stood += (int64_t)n * world.per_trap;
	world.most = world.this_pause > world.most ? world.this_pause : world.most;
	world.longest = world.stood > world.longest ? world.stood : world.longest;
}

static void remember(uint32_t which)
{
	if (world.done < 2 * MANY)
		world.order[world.done++] = which;
}

static int slow_insert(struct trace *t, const uint32_t *which, size_t n)
{
	(void)t;
	work(n);
	if (world.fail_at && world.now_in + n > world.fail_at)
		return -EFAULT;
	for (size_t i = 0; i < n; i++) {
		assert_false(world.in[which[i]]);
		world.in[which[i]] = true;
		remember(which[i]);
	}
	world.now_in += n;
	return 0;
}

static int slow_remove(struct trace *t, const uint32_t *which, size_t n)
{
	(void)t;
	work(n);
	for (size_t i = 0; i < n; i++) {
		assert_true(world.in[which[i]]);
		world.in[which[i]] = false;
		remember(which[i]);
	}
	world.now_in -= n;
	return 0;
}

static const struct probe_ops slow_ops = {
	.name = "slow",
	.insert = slow_insert,
	.remove = slow_remove,
};

static int64_t test_now(void)
{
	return world.ns;
}

static void test_rest(int64_t ns)
{
	assert_false(fake.paused);
	world.rested += ns;
}

static const struct pieces_clock test_clock = {test_now, test_rest};

/* The guest runs. */
static void runs(void)
{
	void (*between)(void) = world.between;

	world.this_pause = 0;
	world.stood = 0;
	world.runs++;
	world.between = NULL;
	if (between)
		between();
}

static bool cancelled(void *arg)
{
	(void)arg;
	return world.cancelled;
}

static void note(void *arg, const char *text)
{
	(void)arg;
	snprintf(world.note, sizeof(world.note), "%s", text);
	world.notes++;
}

/* --- traces of it --------------------------------------------------------------------------- */

static int set_up(void **state)
{
	struct trace_config cfg = {.running = true, .cancelled = cancelled, .message = note};
	char err[256];

	guest_set_up(state);
	memset(&world, 0, sizeof(world));
	world.per_trap = 1000;
	world.t = trace_with(cfg, err, sizeof(err));
	assert_non_null(world.t);
	world.t->m = (struct machine *)&fake;
	world.t->engine = &slow_ops;
	world.t->pieces.clock = &test_clock;
	world.t->probes.nr = 0;
	for (size_t i = 0; i < MANY; i++) {
		struct probe *p = probe_add(&world.t->probes, FAKE_VA(0x100000 + i * 16));

		assert_non_null(p);
		p->name = "many";
		/* What fires once is not looked at before. */
		p->flags = PROBE_FL_RECORD | PROBE_FL_ONCE | (i >= EXITS ? PROBE_FL_EXIT : 0);
		p->guards = i >= GUARDS ? GUARD_MODULE_FREE : 0;
	}
	fake.run = runs;
	return 0;
}

static int tear_down(void **state)
{
	fake.run = NULL;
	trace_free(world.t);
	return guest_tear_down(state);
}

static int patched(void)
{
	int ret;

	trace_change_begin(world.t);
	world.t->placed = true;
	ret = pieces_patch(world.t);
	trace_change_end(world.t);
	return pieces_finish(world.t, ret);
}

static int removed(void)
{
	int ret;

	trace_change_begin(world.t);
	world.t->placed = false;
	ret = pieces_remove_all(world.t, 0);
	trace_change_end(world.t);
	return pieces_finish(world.t, ret);
}

static void all_are(bool in)
{
	for (size_t i = 0; i < MANY; i++) {
		assert_int_equal(world.in[i], in);
		assert_int_equal(!(world.t->probes.v[i].flags & PROBE_FL_SET), !in);
	}
	assert_false(pieces_are_left(world.t));
	assert_int_equal(fake.paused, 0);
}

/* --- tests ---------------------------------------------------------------------------------- */

static void no_pause_has_many(void **state)
{
	uint64_t traced;

	(void)state;
	assert_int_equal(patched(), 0);
	all_are(true);
	traced = world.t->probes.traced;
	assert_in_range(traced, 1, MANY);
	assert_int_equal(world.t->probes.skipped, 0);
	assert_in_range(world.most, 1, PIECES_MAX);
	assert_in_range(world.runs, MANY / PIECES_MAX, MANY / PIECES_START);
	world.most = 0;
	assert_int_equal(removed(), 0);
	all_are(false);
	assert_in_range(world.most, 1, PIECES_MAX);
	/* How many there were is asked for behind the end, too. */
	assert_int_equal(world.t->probes.traced, traced);
	assert_int_equal(world.t->probes.skipped, 0);
}

/* Whatever one costs: the guest stands for a small part of its limit, and then runs as long. */
static void no_pause_is_long(void **state)
{
	static const int64_t price[] = {1000, 100000, 1000000, 20000000};

	(void)state;
	for (size_t i = 0; i < sizeof(price) / sizeof(price[0]); i++) {
		int64_t began = world.ns;

		world.per_trap = price[i];
		assert_int_equal(patched(), 0);
		/* The first piece, when it is not known, may be dearer. */
		world.longest = 0;
		assert_int_equal(removed(), 0);
		all_are(false);
		assert_in_range(world.longest, 1, LIMIT_NS / PIECES_SHARE);
		assert_true(world.rested >= (world.ns - began) / 2);
		world.rested = 0;
		world.done = 0;
	}
}

/* A return without its call is passed over, and modules do not go unseen. */
static void calls_come_last_and_go_first(void **state)
{
	(void)state;
	patched();
	removed();
	assert_int_equal(world.done, 2 * MANY);
	for (size_t i = 0; i < MANY; i++) {
		assert_int_equal(world.order[i], world.order[2 * MANY - 1 - i]);
		if (i < MANY - GUARDS)
			assert_true(world.order[i] >= GUARDS);
		else if (i < MANY - EXITS)
			assert_in_range(world.order[i], EXITS, GUARDS - 1);
	}
}

static void what_was_set_goes_when_others_cannot_be(void **state)
{
	(void)state;
	/* Some are somebody else's for now. */
	for (size_t i = 0; i < MANY; i += 7)
		world.t->probes.v[i].flags |= PROBE_FL_LENT;
	world.fail_at = 3000;
	assert_int_equal(patched(), -EFAULT);
	all_are(false);
	assert_int_equal(world.now_in, 0);
	assert_in_range(world.most, 1, 2 * PIECES_MAX);
	world.fail_at = 1;
	assert_int_equal(patched(), -EFAULT);
	all_are(false);
	for (size_t i = 0; i < MANY; i++)
		world.t->probes.v[i].flags &= (uint16_t)~PROBE_FL_LENT;
	world.fail_at = 0;
	assert_int_equal(patched(), 0);
	all_are(true);
}

static void others_are_set_anew(void **state)
{
	(void)state;
	assert_int_equal(patched(), 0);
	for (size_t i = 0; i < MANY; i += 2) {
		world.t->probes.v[i].flags |= PROBE_FL_CHANGE;
		if (i % 4)
			world.t->probes.v[i].flags &= (uint16_t)~PROBE_FL_RECORD;
	}
	world.most = 0;
	assert_int_equal(patched(), 0);
	assert_in_range(world.most, 1, PIECES_MAX);
	for (size_t i = 0; i < MANY; i++)
		if (i < GUARDS)
			assert_int_equal(world.in[i], i % 4 != 2);
}

/* By a clock that does not go while the guest runs. */
static void who_has_to_wait_is_told(void **state)
{
	(void)state;
	assert_int_equal(patched(), 0);
	assert_int_equal(removed(), 0);
	assert_int_equal(world.notes, 0);
	world.per_trap = 10000000;
	assert_int_equal(patched(), 0);
	assert_int_equal(world.notes, 1);
	assert_non_null(strstr(world.note, "5000 places takes 50 s or more"));
	assert_non_null(strstr(world.note, "choose fewer functions (-f"));
	assert_int_equal(removed(), 0);
	assert_int_equal(world.notes, 1);
}

static void signal_comes(void)
{
	world.cancelled = true;
}

static void a_signal_is_heard_in_between(void **state)
{
	(void)state;
	world.between = signal_comes;
	assert_int_equal(patched(), -ECANCELED);
	assert_in_range(world.now_in, 1, 2 * PIECES_START);
	assert_false(pieces_are_left(world.t));
	/* What undoes it is not cancelled. */
	assert_int_equal(removed(), 0);
	all_are(false);
}

static void is_leaving(void)
{
	trace_leave(world.t);
}

/* Who has asked for them is waited for by who is about to let go. */
static void who_lets_go_does_not_wait_for_all(void **state)
{
	(void)state;
	world.between = is_leaving;
	assert_int_equal(patched(), -ECANCELED);
	assert_in_range(world.now_in, 1, 2 * PIECES_START);
	assert_int_equal(removed(), 0);
	all_are(false);
}

static void lets_go(void)
{
	assert_int_equal(removed(), 0);
	all_are(false);
}

static void letting_go_ends_what_is_under_way(void **state)
{
	(void)state;
	world.between = lets_go;
	assert_int_equal(patched(), 0);
	all_are(false);
}

static void changes_more(void)
{
	for (size_t i = 0; i < MANY; i += 2)
		world.t->probes.v[i].flags &= (uint16_t)~PROBE_FL_RECORD;
	for (size_t i = 0; i < MANY; i++)
		if (world.in[i])
			world.t->probes.v[i].flags |= PROBE_FL_CHANGE;
	trace_change_begin(world.t);
	assert_int_equal(pieces_patch(world.t), 0);
	trace_change_end(world.t);
}

static void changes_while_leaving(void)
{
	trace_leave(world.t);
	changes_more();
}

/* Whoever lets go is not told that somebody else was given up. */
static void a_change_while_letting_go_comes_to_nothing(void **state)
{
	(void)state;
	assert_int_equal(patched(), 0);
	world.between = changes_while_leaving;
	assert_int_equal(removed(), 0);
	all_are(false);
}

static void a_change_in_between_joins_it(void **state)
{
	(void)state;
	world.between = changes_more;
	assert_int_equal(patched(), 0);
	assert_in_range(world.most, 1, PIECES_MAX);
	for (size_t i = 0; i < GUARDS; i++)
		assert_int_equal(world.in[i], i & 1);
	assert_false(pieces_are_left(world.t));
}

static void guard_is_hit(void)
{
	const struct machine_hit hit = {.va = FAKE_VA(0x100000)};

	guards_hit(world.t, 0, &hit);
}

/* A vCPU at a guard would have done in one pause what somebody else is about to do in many. */
static void a_hit_in_between_leaves_the_rest(void **state)
{
	(void)state;
	world.between = guard_is_hit;
	assert_int_equal(patched(), 0);
	assert_in_range(world.most, 1, PIECES_MAX);
	all_are(true);
	world.between = guard_is_hit;
	assert_int_equal(removed(), 0);
	assert_in_range(world.most, 1, PIECES_MAX);
	all_are(false);
}

/* Like guards_hit(), for a guard whose change is of many. */
static void changes_at_the_end(void)
{
	if (pieces_are_left(world.t)) {
		world.between = changes_at_the_end;
		return;
	}
	for (size_t i = 0; i < MANY; i++)
		world.t->probes.v[i].flags |= PROBE_FL_CHANGE;
	trace_change_begin(world.t);
	assert_int_equal(pieces_patch(world.t), 0);
	assert_true(pieces_are_left(world.t));
	assert_int_equal(pieces_finish_here(world.t), 0);
	assert_false(pieces_are_left(world.t));
	trace_change_end(world.t);
}

/* Nobody is on the way any more, though one thread has not come back from it yet. */
static void a_hit_at_the_end_does_its_own(void **state)
{
	(void)state;
	world.between = changes_at_the_end;
	assert_int_equal(patched(), 0);
	all_are(true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(no_pause_has_many, set_up, tear_down),
		cmocka_unit_test_setup_teardown(no_pause_is_long, set_up, tear_down),
		cmocka_unit_test_setup_teardown(calls_come_last_and_go_first, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_was_set_goes_when_others_cannot_be, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(others_are_set_anew, set_up, tear_down),
		cmocka_unit_test_setup_teardown(who_has_to_wait_is_told, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_signal_is_heard_in_between, set_up, tear_down),
		cmocka_unit_test_setup_teardown(who_lets_go_does_not_wait_for_all, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(letting_go_ends_what_is_under_way, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_change_while_letting_go_comes_to_nothing, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_change_in_between_joins_it, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_hit_in_between_leaves_the_rest, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_hit_at_the_end_does_its_own, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
