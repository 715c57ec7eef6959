// SPDX-License-Identifier: GPL-2.0-or-later
/* test-calibrate.c - which hosts are taken for ones that interpret: the machine is KVM's, the CPU
 * time is not. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "vmm/kvm/host/calibrate.h"

#define USEC 1000ull
#define MSEC (1000 * USEC)

/* CPU time, which goes on by slow_ns from one look to the next, and by fast_ns after slow_looks of
 * them. */
static struct {
	uint64_t slow_ns, fast_ns, now;
	unsigned int slow_looks, looks;
} cpu;

/* In the place of libc's. */
/* NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name): reserved ones there */
int clock_gettime(clockid_t id, struct timespec *ts)
{
	if (id != CLOCK_THREAD_CPUTIME_ID)
		return (int)syscall(SYS_clock_gettime, id, ts);
	ts->tv_sec = (time_t)(cpu.now / 1000000000);
	ts->tv_nsec = (long)(cpu.now % 1000000000);
	cpu.now += cpu.looks++ < cpu.slow_looks ? cpu.slow_ns : cpu.fast_ns;
	return 0;
}

static struct kvm_calibration calibrated(void)
{
	int kvm = open("/dev/kvm", O_RDWR | O_CLOEXEC);
	struct kvm_calibration cal;

	assert_true(kvm >= 0);
	cpu.now = cpu.looks = 0;
	assert_int_equal(kvm_calibrate(kvm, &cal), 0);
	close(kvm);
	return cal;
}

static void a_host_that_is_fast(void **state)
{
	(void)state;
	cpu.slow_looks = 0;
	cpu.fast_ns = 3 * USEC;
	assert_false(calibrated().emulated);
	assert_in_range(cpu.looks, 1, 4);
}

/* Its own host takes its CPU away, and it is not told. */
static void a_host_that_stands_now_and_then(void **state)
{
	(void)state;
	cpu.slow_looks = 3;
	cpu.slow_ns = 80 * MSEC;
	cpu.fast_ns = 200 * USEC;
	assert_false(calibrated().emulated);
}

static void a_host_that_interprets(void **state)
{
	struct kvm_calibration cal;

	(void)state;
	cpu.slow_looks = 10;
	cpu.slow_ns = 20 * MSEC;
	cpu.fast_ns = 6 * MSEC;
	cal = calibrated();
	assert_true(cal.emulated);
	assert_in_range((uint64_t)cal.insns_per_sec, 1300000, 1400000);
	assert_in_range(cpu.now, 500 * MSEC, 520 * MSEC);
}

static void what_is_no_kvm(void **state)
{
	struct kvm_calibration cal;
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	(void)state;
	assert_true(null >= 0);
	assert_int_equal(kvm_calibrate(null, &cal), -ENOTTY);
	close(null);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_host_that_is_fast),
		cmocka_unit_test(a_host_that_stands_now_and_then),
		cmocka_unit_test(a_host_that_interprets),
		cmocka_unit_test(what_is_no_kvm),
	};

	if (access("/dev/kvm", R_OK | W_OK)) {
		printf("1..1\nok 1 - calibrate # SKIP no access to /dev/kvm\n");
		return 0;
	}
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
