// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test-graph-room.c - how much function_graph takes while events wait for their place among calls:
 * it gets on whatever vCPUs have recorded, and nothing that was fed is refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/tramp-guest.h"
#include "tracer/core/lock.h"
#include "tracer/payload/event-ring.h"
#include "tracer/record/graph.h"

enum {
	MERGED = 65536, /* records a pass, as where records are held back */
	PASSES = 400,
	LONG = EVENT_MAX,
	SHORT = 40,
};

/* What a vCPU has recorded, which has not been fed. */
struct staged {
	size_t events;
	uint32_t len; /* of each */
	uint64_t tsc; /* of the next one */
};

static struct trace *t;
static const uint8_t data[EVENT_MAX];

static int set_up(void **state)
{
	(void)state;
	tramp_kernel_make();
	t = tramp_started((struct trace_config){0});
	trace_writers_stop(t); /* the collector is this test */
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	trace_writers_go(t);
	tramp_end(t);
	free(fake.ram);
	return 0;
}

static void feed(unsigned int vcpu, struct staged *s)
{
	const struct payload_record r = {.event_tsc = s->tsc++,
					 .event_len = s->len,
					 .state = PAYLOAD_EVENT << STATE_TYPE_SHIFT};

	assert_true(graph_feed_event(t->graph, vcpu, &r, 0, data, NULL));
	s->events--;
}

/* As the collector does. True: some are left, and wait for room. */
static bool drain(unsigned int vcpu, struct staged *s)
{
	size_t room;

	while (s->events && (room = graph_room(t->graph, vcpu, STAGING_BATCH))) {
		assert_in_range(room, 1, STAGING_BATCH);
		for (; room && s->events; room--)
			feed(vcpu, s);
	}
	return s->events;
}

static bool some_are_left(const struct staged s[TRAMP_CPUS])
{
	return s[0].events || s[1].events;
}

static void all_are_fed(struct staged s[TRAMP_CPUS])
{
	unsigned int passes = 0;

	for (; some_are_left(s) && passes < PASSES; passes++) {
		uint64_t held = 0;

		for (unsigned int v = 0; v < TRAMP_CPUS; v++)
			held |= (uint64_t)drain(v, &s[v]) << v;
		graph_merge(t->graph, false, MERGED, held);
	}
	assert_int_equal(s[0].events, 0);
	assert_int_equal(s[1].events, 0);
}

/* --- tests ---------------------------------------------------------------------------------- */

/* One batch of one vCPU's is more than is to wait, and the other one has been idle. */
static void one_batch_does_not_stall_it(void **state)
{
	struct staged s[TRAMP_CPUS] = {
		{.events = STAGING_BATCH, .len = LONG, .tsc = 1000},
		{.events = 1, .len = SHORT, .tsc = 500},
	};

	(void)state;
	all_are_fed(s);
}

static void an_honest_burst_does_not_stall_it(void **state)
{
	struct staged s[TRAMP_CPUS] = {
		{.events = 150000, .len = SHORT, .tsc = 1000},
		{.events = 150000, .len = SHORT, .tsc = 1000},
	};

	(void)state;
	all_are_fed(s);
}

/* Others' events may be as long as they can be. */
static void there_is_room_for_each_first(void **state)
{
	struct staged s[TRAMP_CPUS] = {
		{.events = 100000, .len = SHORT, .tsc = 1000},
		{.events = STAGING_BATCH / 3, .len = LONG, .tsc = 2000000},
	};

	(void)state;
	assert_true(drain(0, &s[0]));
	assert_int_equal(graph_room(t->graph, 0, STAGING_BATCH), 0);
	assert_in_range(graph_room(t->graph, 1, STAGING_BATCH), STAGING_BATCH / 3,
			STAGING_BATCH / 2);
	assert_false(drain(1, &s[1]));
	assert_int_equal(graph_room(t->graph, 1, STAGING_BATCH), 0);
	all_are_fed(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(one_batch_does_not_stall_it, set_up, tear_down),
		cmocka_unit_test_setup_teardown(an_honest_burst_does_not_stall_it, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(there_is_room_for_each_first, set_up, tear_down),
	};

	return cmocka_run_group_tests_name("graph-room", tests, NULL, NULL);
}
