// SPDX-License-Identifier: GPL-2.0-or-later
/* test-number.c - which CPU of the guest's kernel a vCPU is, of whatever %gs it may have. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/fake-kernel.h"

enum { CPUS = 6 };

static struct guest_kernel guest;
static struct machine_sregs sregs[FAKE_VCPUS];

static uint64_t base_of(unsigned int cpu)
{
	return UINT64_C(0xffff888000000000) + cpu * 0x40000;
}

static int set_up(void **state)
{
	char err[128];

	(void)state;
	kernel_make();
	memset(&guest, 0, sizeof(guest));
	if (guest_learn(&guest, NULL, err, sizeof(err)))
		fail_msg("%s", err);
	guest_bind(&guest, NULL);
	for (unsigned int i = 0; i < CPUS; i++)
		put(PER_CPU_OFFSET + 8 * i, base_of(i), 8);
	memset(sregs, 0, sizeof(sregs));
	fake.each = sregs;
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	free(fake.ram);
	return 0;
}

static void in_kernel(unsigned int vcpu, unsigned int cpu)
{
	sregs[vcpu] = (struct machine_sregs){.gs_base = base_of(cpu), .kernel_gs_base = 0x7f0000};
}

static void in_user_mode(unsigned int vcpu, unsigned int cpu, uint64_t gs_base)
{
	sregs[vcpu] = (struct machine_sregs){
		.gs_base = gs_base, .kernel_gs_base = base_of(cpu), .cpl = 3};
}

static void number(unsigned int vcpus)
{
	char err[256] = "";

	fake.vcpus = vcpus;
	assert_int_equal(guest_number_vcpus(&guest, err, sizeof(err)), 0);
}

static void are(const unsigned int *numbers, unsigned int n)
{
	assert_int_equal(fake.numbered, 1);
	for (unsigned int i = 0; i < n; i++)
		assert_int_equal(fake.number[i], numbers[i]);
}

static void those_that_are_in_order_stay(void **state)
{
	(void)state;
	in_kernel(0, 0);
	in_user_mode(1, 1, 0);
	in_kernel(2, 2);
	number(3);
	assert_int_equal(fake.numbered, 0);
}

/* CPU 2 was unplugged before. What a program has in %gs itself does not matter. */
static void one_behind_a_gap(void **state)
{
	(void)state;
	in_kernel(0, 0);
	in_user_mode(1, 1, base_of(4));
	in_user_mode(2, 3, base_of(2));
	number(3);
	are((const unsigned int[]){0, 1, 3}, 3);
}

/* And one came back, so it is the last. */
static void others_in_another_order(void **state)
{
	(void)state;
	in_kernel(0, 0);
	in_kernel(1, 1);
	in_kernel(2, 3);
	in_kernel(3, 2);
	number(4);
	are((const unsigned int[]){0, 1, 3, 2}, 4);
}

/* The kernel has just been entered, and %gs is user mode's: the other is the kernel's. */
static void at_the_kernels_first_instructions(void **state)
{
	(void)state;
	in_kernel(0, 0);
	in_user_mode(1, 2, 0x7f0000);
	sregs[1].cpl = 0;
	number(2);
	are((const unsigned int[]){0, 2}, 2);
}

/* Nobody can say which: it keeps its place, or has one that nobody else has. */
static void those_that_do_not_tell(void **state)
{
	(void)state;
	in_kernel(0, 0);
	in_kernel(1, 3);
	sregs[1].kernel_gs_base = base_of(2); /* both are a CPU's */
	in_kernel(2, 1);
	in_kernel(3, 0); /* another has that */
	number(4);
	are((const unsigned int[]){0, 2, 1, 3}, 4);
}

static void never_online(void **state)
{
	(void)state;
	in_kernel(0, 0);
	in_kernel(1, 1);
	number(4);
	assert_int_equal(fake.numbered, 0);
}

/* Of CPUs that cannot be the kernel has what it began with, of all the same. */
static void a_base_of_several(void **state)
{
	(void)state;
	for (unsigned int i = 3; i < CPUS; i++)
		put(PER_CPU_OFFSET + 8 * i, base_of(3), 8);
	in_kernel(0, 0);
	in_kernel(1, 3);
	number(2);
	assert_int_equal(fake.numbered, 0);
}

static void a_backend_that_does_not_know(void **state)
{
	char err[256] = "";

	(void)state;
	in_kernel(0, 0);
	in_kernel(1, 2);
	fake.vcpus = 2;
	fake.number_error = -E2BIG;
	assert_int_equal(guest_number_vcpus(&guest, err, sizeof(err)), -E2BIG);
	assert_non_null(strstr(err, "monitor"));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(those_that_are_in_order_stay),
		TEST(one_behind_a_gap),
		TEST(others_in_another_order),
		TEST(at_the_kernels_first_instructions),
		TEST(those_that_do_not_tell),
		TEST(never_online),
		TEST(a_base_of_several),
		TEST(a_backend_that_does_not_know),
	};

	return cmocka_run_group_tests_name("numbers of CPUs", tests, NULL, NULL);
}
