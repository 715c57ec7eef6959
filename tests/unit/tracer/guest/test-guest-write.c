// SPDX-License-Identifier: GPL-2.0-or-later
/* test-guest-write.c - what is written to kernel virtual memory goes where that lies, or nowhere.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/fake-kernel.h"

enum {
	PAGE = 0x1000,
	FIRST = 0x30000, /* where the first page lies, and, lower, its neighbour by address */
	SECOND = 0x28000,
};
#define VA UINT64_C(0xffffc90000100000)

static struct guest_kernel guest;

static int set_up(void **state)
{
	char err[128];

	(void)state;
	kernel_make();
	memset(&guest, 0, sizeof(guest));
	if (guest_learn(&guest, NULL, err, sizeof(err)))
		fail_msg("%s", err);
	guest_bind(&guest, NULL);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	free(fake.ram);
	return 0;
}

static void map(uint64_t va, uint64_t pa)
{
	fake_map(guest_image_pa(&guest, guest.pgtable_root), va, PAGE, pa);
}

/* All of RAM is as it was. */
static void nothing_is_written(uint64_t va, size_t len)
{
	static uint8_t before[FAKE_RAM], bytes[3 * PAGE];

	memset(bytes, 0x5a, sizeof(bytes));
	memcpy(before, fake.ram, sizeof(before));
	assert_int_not_equal(guest_write(&guest, va, bytes, len), 0);
	assert_memory_equal(fake.ram, before, sizeof(before));
}

static void each_part_goes_to_its_page(void **state)
{
	static const char text[] = "0123456789abcdef";

	(void)state;
	map(VA, FAKE_PA + FIRST);
	map(VA + PAGE, FAKE_PA + SECOND);
	for (size_t in_first = 0; in_first <= 16; in_first++) {
		memset(fake_at(FAKE_VA(FIRST)), 0, 2 * PAGE);
		memset(fake_at(FAKE_VA(SECOND)), 0, PAGE);
		assert_int_equal(guest_write(&guest, VA + PAGE - in_first, text, 16), 0);
		assert_memory_equal(fake_at(FAKE_VA(FIRST + PAGE - in_first)), text, in_first);
		assert_memory_equal(fake_at(FAKE_VA(SECOND)), text + in_first, 16 - in_first);
		assert_int_equal(*fake_at(FAKE_VA(FIRST + PAGE)), 0);
	}
}

/* One that is not mapped, or mapped to where there is no memory. */
static void a_page_that_is_missing_leaves_the_other_as_it_is(void **state)
{
	(void)state;
	map(VA, FAKE_PA + FIRST);
	nothing_is_written(VA + PAGE - 8, 16);
	map(VA + PAGE, FAKE_RAM);
	nothing_is_written(VA + PAGE - 8, 16);
	nothing_is_written(VA - 8, 16);
	nothing_is_written(VA + 2 * PAGE, 16);
}

static void no_more_than_two_pages(void **state)
{
	(void)state;
	map(VA, FAKE_PA + FIRST);
	map(VA + PAGE, FAKE_PA + SECOND);
	map(VA + 2 * PAGE, FAKE_PA + FIRST + PAGE);
	nothing_is_written(VA + PAGE - 1, PAGE + 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(each_part_goes_to_its_page, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_page_that_is_missing_leaves_the_other_as_it_is,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(no_more_than_two_pages, set_up, tear_down),
	};

	return cmocka_run_group_tests_name("guest-write", tests, NULL, NULL);
}
