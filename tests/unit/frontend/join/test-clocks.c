// SPDX-License-Identifier: GPL-2.0-or-later
/* test-clocks.c - whose times are of one axis with whose. */
#include "tests/unit/decode-world.h"

#include "frontend/join/clocks.h"
#include "frontend/join/join.h"

static const struct join_clock hosts = {
	.name = "x86-tsc",
	.counts_ns = true,
	.is_hosts = true,
	.ticks = {.mult = 5, .shift = 4},
};

static void test_agree(void **state)
{
	struct join_clock other = hosts;

	(void)state;
	assert_int_equal(join_clocks_agree(&hosts, &other), JOIN_AXIS_ONE);
	other.ticks.mult = 6; /* of another host */
	assert_int_equal(join_clocks_agree(&hosts, &other), JOIN_AXIS_OWN);
	other = hosts;
	other.offset = 1;
	assert_int_equal(join_clocks_agree(&hosts, &other), JOIN_AXIS_OWN);
	other = hosts;
	other.is_hosts = false;
	assert_int_equal(join_clocks_agree(&hosts, &other), JOIN_AXIS_OWN);
	other = (struct join_clock){.name = "counter"};
	assert_int_equal(join_clocks_agree(&hosts, &other), JOIN_AXIS_UNLIKE);
	assert_int_equal(join_clocks_agree(&other, &other), JOIN_AXIS_OWN);
}

/* One vCPU whose TSC is the host's less 1000, and ticks of half a nanosecond. */
static struct dat *guest_of(const char *clock, bool shift)
{
	static const struct {
		uint64_t peer;
		uint32_t flags, nr, samples;
		int64_t time, offset;
		uint64_t scaling;
	} __attribute__((packed)) to_host = {7, 0, 1, 1, 0, 1000, 1};
	static const struct {
		uint32_t mult, shift;
		uint64_t offset;
	} ticks = {1, 1, 0};
	const struct made_option options[] = {
		{DAT_OPTION_TSC2NSEC, &ticks, sizeof(ticks)},
		{DAT_OPTION_TRACECLOCK, clock, strlen(clock) + 1},
		{shift ? DAT_OPTION_TIME_SHIFT : DAT_OPTION_HOOK, &to_host, sizeof(to_host)},
		{0, NULL, 0},
	};
	struct made_dat_spec s = {.version = 7};

	made_trace_spec(&s);
	s.options = options;
	return made_open(&s);
}

static void test_files(void **state)
{
	struct dat *a = guest_of("[x86-tsc]", true), *b = guest_of("[x86-tsc]", true),
		   *unknown = guest_of("[x86-tsc]", false), *other = guest_of("[local]", true);

	(void)state;
	assert_true(join_is_one_axis(a, b));
	assert_false(join_is_one_axis(a, unknown));
	assert_false(join_is_one_axis(a, other));
	dat_close(a);
	dat_close(b);
	dat_close(unknown);
	dat_close(other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_agree),
		cmocka_unit_test(test_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
