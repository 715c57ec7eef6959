// SPDX-License-Identifier: GPL-2.0-or-later
/* test-clocks.c - whose times are of one axis with whose. */
#include "tests/unit/decode-world.h"

#include "frontend/join/clocks.h"
#include "frontend/join/join.h"

#define BOOT_A "5d2f0c0e-6f0c-4c43-9a39-6f6ac8a1c3f1"
#define BOOT_B "5d2f0c0e-6f0c-4c43-9a39-6f6ac8a1c3f2"

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
	other = hosts;
	strcpy(other.host_boot, BOOT_A);
	assert_int_equal(join_clocks_agree(&hosts, &other), JOIN_AXIS_ONE); /* one is not told */
	other = (struct join_clock){.name = "counter"};
	assert_int_equal(join_clocks_agree(&hosts, &other), JOIN_AXIS_UNLIKE);
	assert_int_equal(join_clocks_agree(&other, &other), JOIN_AXIS_OWN);
}

/* Another host, or another boot of one: what makes nanoseconds of ticks may be the same. */
static void test_boots(void **state)
{
	struct join_clock a = hosts, b = hosts;

	(void)state;
	strcpy(a.host_boot, BOOT_A);
	strcpy(b.host_boot, BOOT_B);
	assert_int_equal(join_clocks_agree(&a, &a), JOIN_AXIS_ONE);
	assert_int_equal(join_clocks_agree(&a, &b), JOIN_AXIS_OWN);
	/* By the clock host all files make them in the same way. */
	strcpy(a.name, "host");
	strcpy(b.name, "host");
	assert_int_equal(join_clocks_agree(&a, &a), JOIN_AXIS_ONE);
	assert_int_equal(join_clocks_agree(&a, &b), JOIN_AXIS_OWN);
	*b.host_boot = '\0';
	assert_int_equal(join_clocks_agree(&a, &b), JOIN_AXIS_OWN);
	assert_int_equal(join_clocks_agree(&b, &b), JOIN_AXIS_ONE);
}

/* One vCPU whose TSC is the host's less 1000, and ticks of half a nanosecond. */
static struct dat *guest_on(const char *clock, bool shift, const char *version, size_t len)
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
		{DAT_OPTION_VERSION, version, len},
		{0, NULL, 0},
	};
	struct made_dat_spec s = {.version = 7};

	made_trace_spec(&s);
	s.options = options;
	return made_open(&s);
}

static struct dat *guest_of(const char *clock, bool shift)
{
	return guest_on(clock, shift, "1", 2);
}

#define HVTRACE_ON(boot) "hvtrace 1\0boot_id " boot

static struct dat *guest_by(const char *version, size_t len)
{
	return guest_on("[host]", false, version, len);
}

static void test_files_of_boots(void **state)
{
	static const char on_a[] = HVTRACE_ON(BOOT_A), on_b[] = HVTRACE_ON(BOOT_B);
	struct dat *a = guest_by(on_a, sizeof(on_a)), *again = guest_by(on_a, sizeof(on_a)),
		   *b = guest_by(on_b, sizeof(on_b)), *cut = guest_by(on_a, sizeof(on_a) - 2);

	(void)state;
	assert_string_equal(dat_info(a)->program, "hvtrace 1");
	assert_string_equal(dat_info(a)->host_boot, BOOT_A);
	assert_null(dat_info(cut)->host_boot);
	assert_true(join_is_one_axis(a, again));
	assert_false(join_is_one_axis(a, b));
	assert_false(join_is_one_axis(a, cut));
	dat_close(a);
	dat_close(again);
	dat_close(b);
	dat_close(cut);
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
		cmocka_unit_test(test_boots),
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_files_of_boots),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
