// SPDX-License-Identifier: GPL-2.0-or-later
/* test-guest-time.c - the guest's clocks, from a made-up timekeeper. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/fake-kernel.h"
#include "tracer/guest/guest.h"

/* Offsets in the made-up image, and in its structures. */
enum {
	FAST_MONO = 0x28000,
	FAST_RAW = 0x28100,
	CORE = 0x28200,
	CLOCKSOURCE = 0x28400,
	NAME = 0x28500,
	USE_TSC = 0x28600,
	JIFFIES = 0x28608,
	TICK_NSEC = 0x28610,
	KVM_BEGUN = 0x28638,
	RUNNING = 0x28618,
	STABLE = 0x28620,
	GTOD_OFFSET = 0x28628,
	CLOCK_OFFSET = 0x28630,
	PCPU_CYC2NS = 0x140,
	PCPU_SCD = 0x200,
	PCPU_PVCLOCK = 0x240,
	FAST_BASE = 8,
	BASE_SIZE = 56,
	CLOCK = 0,
	CYCLE_LAST = 16,
	MULT = 24,
	SHIFT = 28,
	XTIME = 32,
	BASE = 40,
	CS_NAME = 0x30,
	TIMEKEEPER = CORE + 8,
	OFFS_BOOT = 0x80,
	OFFS_TAI = 0x88,
};

#define SECOND UINT64_C(1000000000)

static struct guest_kernel guest;

static void put_base(uint64_t fast, unsigned int copy, uint64_t base, uint64_t xtime)
{
	uint64_t at = fast + FAST_BASE + (uint64_t)copy * BASE_SIZE;

	put(at + CLOCK, FAKE_VA(CLOCKSOURCE), 8);
	put(at + CYCLE_LAST, 4000000, 8);
	put(at + MULT, 1 << 9, 4); /* half a ns each */
	put(at + SHIFT, 10, 4);
	put(at + XTIME, xtime << 10, 8);
	put(at + BASE, base, 8);
}

static void add_types(void)
{
	fake_field("tk_fast.seq", 0, 4);
	fake_field("tk_fast.base", FAST_BASE, 2 * BASE_SIZE);
	fake_field("tk_read_base.clock", CLOCK, 8);
	fake_field("tk_read_base.cycle_last", CYCLE_LAST, 8);
	fake_field("tk_read_base.mult", MULT, 4);
	fake_field("tk_read_base.shift", SHIFT, 4);
	fake_field("tk_read_base.xtime_nsec", XTIME, 8);
	fake_field("tk_read_base.base", BASE, 8);
	fake_field("clocksource.name", CS_NAME, 8);
	fake_field("timekeeper.tkr_mono.clock", 0, 8);
	fake_field("timekeeper.offs_boot", OFFS_BOOT, 8);
	fake_field("timekeeper.offs_tai", OFFS_TAI, 8);
	fake_field("sched_clock_data.tick_raw", 0, 8);
	fake_field("sched_clock_data.tick_gtod", 8, 8);
	fake_field("cyc2ns.data", 0, 32);
	fake_field("cyc2ns.seq", 32, 4);
	fake_field("cyc2ns_data.cyc2ns_mul", 0, 4);
	fake_field("cyc2ns_data.cyc2ns_shift", 4, 4);
	fake_field("cyc2ns_data.cyc2ns_offset", 8, 8);
}

static void learn(void)
{
	char err[256] = "";

	memset(&guest, 0, sizeof(guest));
	if (guest_learn(&guest, NULL, err, sizeof(err)))
		fail_msg("%s", err);
}

static int set_up(void **state)
{
	uint64_t c2n = PER_CPU_AREA + PER_CPU_SIZE + PCPU_CYC2NS;

	(void)state;
	kernel_make();
	fake_symbol("tk_fast_mono", FAKE_VA(FAST_MONO), 'd');
	fake_symbol("tk_fast_raw", FAKE_VA(FAST_RAW), 'd');
	fake_symbol("tk_core", FAKE_VA(CORE), 'b');
	fake_symbol("__use_tsc", FAKE_VA(USE_TSC), 'd');
	fake_symbol("jiffies_64", FAKE_VA(JIFFIES), 'D');
	fake_symbol("tick_nsec", FAKE_VA(TICK_NSEC), 'D');
	fake_symbol("sched_clock_running", FAKE_VA(RUNNING), 'd');
	fake_symbol("__sched_clock_stable", FAKE_VA(STABLE), 'd');
	fake_symbol("__gtod_offset", FAKE_VA(GTOD_OFFSET), 'd');
	fake_symbol("__sched_clock_offset", FAKE_VA(CLOCK_OFFSET), 'd');
	fake_symbol("cyc2ns", PCPU_CYC2NS, 'A');
	fake_symbol("sched_clock_data", PCPU_SCD, 'A');
	fake_symbol("hv_clock_per_cpu", PCPU_PVCLOCK, 'A');
	fake_symbol("kvm_sched_clock_offset", FAKE_VA(KVM_BEGUN), 'b');
	add_types();
	put(JIFFIES, 0, 8);
	put(TICK_NSEC, 4000000, 8);
	put(USE_TSC, 1, 4);
	put(c2n, 1 << 9, 4); /* of CPU 1: the same rate */
	put(c2n + 4, 10, 4);
	put(c2n + 8, 1000, 8);
	put_base(FAST_MONO, 0, 5 * SECOND, 300);
	put_base(FAST_MONO, 1, 6 * SECOND, 400);
	put_base(FAST_RAW, 0, 7 * SECOND, 500);
	put_base(FAST_RAW, 1, 8 * SECOND, 600);
	put(TIMEKEEPER, FAKE_VA(CLOCKSOURCE), 8);
	put(TIMEKEEPER + OFFS_BOOT, 30 * SECOND, 8);
	put(TIMEKEEPER + OFFS_TAI, 1000 * SECOND, 8);
	put(CLOCKSOURCE + CS_NAME, FAKE_VA(NAME), 8);
	memcpy(fake_at(FAKE_VA(NAME)), "tsc", 4);
	learn();
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	free(fake.ram);
	return 0;
}

static uint64_t time_at(enum guest_time time, uint64_t tsc)
{
	struct guest_clock c;

	guest_get_time(&guest, 1, time, tsc, &c);
	return guest_clock_ns(&c, tsc);
}

static void tsc_converts_as_in_the_kernel(void **state)
{
	(void)state;
	assert_true(time_at(GUEST_TIME_MONO, 4000000) == 5 * SECOND + 300);
	assert_true(time_at(GUEST_TIME_MONO, 4002000) == 5 * SECOND + 1300);
	assert_true(time_at(GUEST_TIME_MONO, 3998000) == 5 * SECOND - 700); /* before the update */
	assert_true(time_at(GUEST_TIME_RAW, 4002000) == 7 * SECOND + 1500);
	assert_true(time_at(GUEST_TIME_BOOT, 4002000) == 35 * SECOND + 1300);
	assert_true(time_at(GUEST_TIME_TAI, 4002000) == 1005 * SECOND + 1300);
	put(FAST_MONO, 1, 4);
	put(FAST_RAW, 3, 4);
	assert_true(time_at(GUEST_TIME_MONO, 4002000) == 6 * SECOND + 1400);
	assert_true(time_at(GUEST_TIME_RAW, 4002000) == 8 * SECOND + 1600);
	memcpy(fake_at(FAKE_VA(NAME)), "tsc-early", 10);
	assert_true(time_at(GUEST_TIME_MONO, 4002000) == 6 * SECOND + 1400);
	/* When the TSC is not known: as of the update. */
	assert_true(time_at(GUEST_TIME_MONO, 0) == 6 * SECOND + 400);
	assert_true(time_at(GUEST_TIME_BOOT, 0) == 36 * SECOND + 400);
}

static void other_sources_go_on_from_the_tick(void **state)
{
	uint64_t scd = PER_CPU_AREA + PER_CPU_SIZE + PCPU_SCD;

	(void)state;
	memcpy(fake_at(FAKE_VA(NAME)), "hpet", 5);
	/* No tick yet. */
	assert_true(time_at(GUEST_TIME_MONO, 4002000) == 5 * SECOND + 300);
	put(scd, 2001000, 8);		  /* sched_clock() at TSC 4000000 */
	put(scd + 8, 9 * SECOND + 10, 8); /* and the time then */
	assert_true(time_at(GUEST_TIME_MONO, 4002000) == 9 * SECOND + 1010);
	assert_true(time_at(GUEST_TIME_RAW, 4002000) == 11 * SECOND + 1210);
	assert_true(time_at(GUEST_TIME_BOOT, 4002000) == 39 * SECOND + 1010);
}

static void kvm_clock_converts_as_the_hypervisor_says(void **state)
{
	uint64_t pv = 0x28700;

	(void)state;
	memcpy(fake_at(FAKE_VA(NAME)), "kvm-clock", 10);
	put(PER_CPU_AREA + PER_CPU_SIZE + PCPU_PVCLOCK, FAKE_VA(pv), 8);
	put(pv, 6, 4);
	put(pv + 8, 8000000, 8);      /* at this TSC */
	put(pv + 16, 4000100, 8);     /* it was that: 100 ns behind the timekeeper's last update */
	put(pv + 24, 0x80000000u, 4); /* half a ns each, if it was not for a shift */
	put(pv + 28, 1, 1);
	assert_true(time_at(GUEST_TIME_MONO, 8000000) == 5 * SECOND + 400);
	assert_true(time_at(GUEST_TIME_MONO, 8002000) == 5 * SECOND + 2400);
	assert_true(time_at(GUEST_TIME_RAW, 8002000) == 7 * SECOND + 2600);
	put(pv + 28, 0, 1);
	assert_true(time_at(GUEST_TIME_MONO, 8002000) == 5 * SECOND + 1400);
	/* Never finished, or no shift: as with a clocksource of which nothing is known. */
	put(pv, 7, 4);
	assert_true(time_at(GUEST_TIME_MONO, 8002000) == 5 * SECOND + 300);
	put(pv, 8, 4);
	put(pv + 28, 0x80, 1);
	assert_true(time_at(GUEST_TIME_MONO, 8002000) == 5 * SECOND + 300);
}

static uint64_t sched_clock_at(uint64_t tsc)
{
	struct guest_clock c;

	guest_get_clock(&guest, 1, false, &c);
	return guest_clock_ns(&c, tsc);
}

/* sched_clock() is kvm-clock since that has begun, and the TSC's own conversion before. */
static void kvm_clock_is_sched_clock(void **state)
{
	uint64_t pv = 0x28700;

	(void)state;
	put(PER_CPU_AREA + PER_CPU_SIZE + PCPU_PVCLOCK, FAKE_VA(pv), 8);
	put(pv, 2, 4);
	put(pv + 8, 8000000, 8);
	put(pv + 16, 70 * SECOND, 8);
	put(pv + 24, 0x80000000u, 4); /* two ticks are a ns */
	put(KVM_BEGUN, 0, 8);
	assert_true(sched_clock_at(8000000) == 4001000);
	put(KVM_BEGUN, 60 * SECOND, 8);
	assert_true(sched_clock_at(8000000) == 10 * SECOND);
	assert_true(sched_clock_at(8002000) == 10 * SECOND + 1000);
}

/* QEMU stops the guest: its time stands, its TSC does not. */
static void what_was_before_a_stop_keeps_its_time(void **state)
{
	uint64_t pv = 0x28700;

	(void)state;
	put(PER_CPU_AREA + PER_CPU_SIZE + PCPU_PVCLOCK, FAKE_VA(pv), 8);
	put(KVM_BEGUN, 1, 8);
	put(pv, 2, 4);
	put(pv + 8, 8000000, 8);
	put(pv + 16, 100001, 8);
	put(pv + 24, 0x80000000u, 4);
	assert_true(sched_clock_at(8002000) == 101000);
	put(pv, 4, 4);
	put(pv + 8, 9000000, 8);
	put(pv + 16, 102001, 8); /* stopped at 8004000 */
	assert_true(sched_clock_at(8003998) == 101999);
	assert_true(sched_clock_at(9000000) == 102000);
	assert_true(sched_clock_at(9002000) == 103000);
	assert_true(sched_clock_at(8003998) == 101999);
}

/* A guest that lies has times without sense, and nothing worse. */
static void nonsense_is_bounded(void **state)
{
	(void)state;
	put(FAST_MONO + FAST_BASE + SHIFT, 32, 4);
	assert_true(time_at(GUEST_TIME_MONO, 4002000) == 0); /* the last tick */
	put(FAST_MONO + FAST_BASE + SHIFT, 31, 4);
	put(FAST_MONO + FAST_BASE + MULT, 0, 4);
	assert_true(time_at(GUEST_TIME_MONO, 4002000) == 0);
	put(JIFFIES, 3, 8);
	assert_true(time_at(GUEST_TIME_MONO, 4002000) == 12000000);
	put(FAST_MONO + FAST_BASE + MULT, UINT32_MAX, 4);
	put(FAST_MONO + FAST_BASE + CYCLE_LAST, UINT64_MAX, 8);
	put(FAST_MONO + FAST_BASE + BASE, UINT64_MAX, 8);
	put(FAST_MONO + FAST_BASE + XTIME, UINT64_MAX, 8);
	time_at(GUEST_TIME_MONO, UINT64_MAX);
	put(FAST_MONO + FAST_BASE + CLOCK, UINT64_MAX - 3, 8);
	time_at(GUEST_TIME_BOOT, UINT64_MAX);
	put(CLOCKSOURCE + CS_NAME, 1, 8);
	time_at(GUEST_TIME_TAI, 1);
}

static void change_field(const char *path, uint32_t offset, uint32_t size)
{
	for (size_t i = 0; i < fake.nfields; i++)
		if (!strcmp(fake.fields[i].path, path))
			fake.fields[i].field =
				(struct guestsym_field){.offset = offset, .size = size};
}

/* An image may say that members of a structure lie anywhere: what is not in it is not read. */
static void members_lie_in_their_structure(void **state)
{
	struct guest_clock c;

	(void)state;
	change_field("cyc2ns_data.cyc2ns_offset", INT32_MAX, 8);
	learn();
	guest_get_clock(&guest, 1, false, &c);
	assert_int_equal(c.mul, 1 << 9);
	assert_int_equal(c.offset, 0);
	put(PER_CPU_AREA + PER_CPU_SIZE + PCPU_CYC2NS + 32, 1, 4); /* the other copy */
	change_field("cyc2ns.data", 0, UINT32_MAX);
	learn();
	guest_get_clock(&guest, 1, false, &c);
	assert_int_equal(c.mul, 0);
}

/* Where the timekeeper is not where we look, there are no offsets. */
static void another_layout_is_noticed(void **state)
{
	(void)state;
	put(TIMEKEEPER, 0xdead, 8);
	assert_true(time_at(GUEST_TIME_BOOT, 4002000) == 5 * SECOND + 1300);
	fake_field("tk_data.timekeeper", 0x40, 256);
	learn();
	put(CORE + 0x40, FAKE_VA(CLOCKSOURCE), 8);
	put(CORE + 0x40 + OFFS_BOOT, SECOND, 8);
	assert_true(time_at(GUEST_TIME_BOOT, 4002000) == 6 * SECOND + 1300);
}

/* A kernel that is read from its memory has counted on; NTP makes a tick longer or shorter. */
static void ticks_of_a_running_kernel_begin_five_minutes_early(void **state)
{
	static const struct {
		uint64_t tick_nsec, hz;
	} kernels[] = {{10000000, 100}, {9995000, 100}, {4000000, 250},	 {4002000, 250},
		       {3333333, 300},	{999499, 1000}, {1000501, 1000}, {2000000, 500}};

	(void)state;
	fake.from_memory = true;
	for (size_t i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++) {
		uint64_t tick = kernels[i].tick_nsec, hz = kernels[i].hz;

		put(TICK_NSEC, tick, 8);
		put(JIFFIES, UINT32_MAX - 300 * hz + 1 + 567 * hz, 8);
		learn();
		assert_true(guest_jiffies_ns(&guest) == 567 * hz * tick);
	}
	/* Nothing tells how many ticks there are. */
	put(TICK_NSEC, 0, 8);
	learn();
	assert_true(guest_jiffies_ns(&guest) == 0);
}

/* What CPU 1 notes at a tick; the TSC has two cycles in a nanosecond, and begins at 1000 ns. */
static void tick(uint64_t raw, uint64_t gtod)
{
	put(PER_CPU_AREA + PER_CPU_SIZE + PCPU_SCD + 8, gtod, 8);
	put(PER_CPU_AREA + PER_CPU_SIZE + PCPU_SCD, raw, 8);
}

static uint64_t log_at(uint64_t raw)
{
	struct guest_clock c;

	guest_get_clock(&guest, 1, true, &c);
	return guest_clock_ns(&c, 2 * (raw - 1000));
}

/* From the beginning to the end of a boot; what was before is still what it was. */
static void the_logs_clock_changes(void **state)
{
	const uint64_t ms = 1000000;

	(void)state;
	put(RUNNING, 0, 4);
	put(STABLE, 0, 4);
	put(GTOD_OFFSET, 100 * ms, 8);
	put(CLOCK_OFFSET, 0, 8);
	memcpy(fake_at(FAKE_VA(NAME)), "refined-jiffies", 16);
	assert_int_equal(log_at(98 * ms), 98 * ms);
	assert_int_equal(guest_watch_ticks(&guest, 2), 0);
	put(RUNNING, UINT32_MAX, 4); /* it is being switched on, which may take a while */
	tick(100 * ms, 0);
	assert_int_equal(log_at(101 * ms), 101 * ms);
	assert_in_range(log_at(109 * ms), 104 * ms, 104 * ms + ms / 4);
	put(RUNNING, 1, 4);
	tick(110 * ms, 8 * ms); /* 2 ms were lost */
	assert_int_equal(log_at(111 * ms), 109 * ms);
	assert_int_equal(guest_watch_ticks(&guest, 2), 4 * ms);
	assert_in_range(log_at(150 * ms), 112 * ms, 112 * ms + ms / 4);
	memcpy(fake_at(FAKE_VA(NAME)), "tsc-early", 10);
	tick(160 * ms, 12 * ms);
	assert_int_equal(guest_watch_ticks(&guest, 2), 4 * ms);
	assert_int_equal(log_at(170 * ms), 122 * ms);
	put(RUNNING, 2, 4);
	put(CLOCK_OFFSET, (uint64_t)(-48 * (int64_t)ms), 8);
	put(STABLE, UINT32_MAX, 4); /* it is being switched on */
	assert_int_equal(log_at(170 * ms), 122 * ms);
	put(STABLE, 1, 4);
	assert_int_equal(log_at(1000 * ms), 952 * ms);
	assert_int_equal(log_at(111 * ms), 109 * ms);
	assert_int_equal(guest_watch_ticks(&guest, 2), 0);
	put(JIFFIES, 10000, 8); /* nobody has records of before any more */
	assert_int_equal(log_at(2000 * ms), 1952 * ms);
	assert_int_equal(log_at(111 * ms), 63 * ms);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(ticks_of_a_running_kernel_begin_five_minutes_early,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(tsc_converts_as_in_the_kernel, set_up, tear_down),
		cmocka_unit_test_setup_teardown(other_sources_go_on_from_the_tick, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(kvm_clock_converts_as_the_hypervisor_says, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(kvm_clock_is_sched_clock, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_was_before_a_stop_keeps_its_time, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(the_logs_clock_changes, set_up, tear_down),
		cmocka_unit_test_setup_teardown(nonsense_is_bounded, set_up, tear_down),
		cmocka_unit_test_setup_teardown(another_layout_is_noticed, set_up, tear_down),
		cmocka_unit_test_setup_teardown(members_lie_in_their_structure, set_up, tear_down),
	};

	return cmocka_run_group_tests_name("guest-time", tests, NULL, NULL);
}
