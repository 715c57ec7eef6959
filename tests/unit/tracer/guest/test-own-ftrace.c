// SPDX-License-Identifier: GPL-2.0-or-later
/* test-own-ftrace.c - what a made-up guest's own ftrace has at its functions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>

#include "tests/unit/image-words.h"
#include "tracer/guest/own-ftrace.h"

/* Offsets in the made-up image, and in structures. */
enum { FIRST = 0x100, PAGE_1 = 0x200, PAGE_2 = 0x300, RECORDS_1 = 0x1000, RECORDS_2 = 0x8000 };
enum { NEXT = 0, RECORDS = 8, INDEX = 16, IP = 0, FLAGS = 8, SIZE = 24 };

static int set_up(void **state)
{
	(void)state;
	image_set_up();
	fake_symbol("ftrace_pages_start", FAKE_VA(FIRST), 'd');
	fake_field("ftrace_page.next", NEXT, 8);
	fake_field("ftrace_page.records", RECORDS, 8);
	fake_field("ftrace_page.index", INDEX, 4);
	fake_field("dyn_ftrace.ip", IP, 8);
	fake_field("dyn_ftrace.flags", FLAGS, 8);
	fake_type("dyn_ftrace", SIZE);
	put(FIRST, FAKE_VA(PAGE_1), 8);
	put(PAGE_1 + RECORDS, FAKE_VA(RECORDS_1), 8);
	return 0;
}

static void put_record(uint64_t records, unsigned int i, uint64_t ip, uint64_t flags)
{
	put(records + i * SIZE + IP, ip, 8);
	put(records + i * SIZE + FLAGS, flags, 8);
}

static void all_pages_are_read(void **state)
{
	struct own_sites s;
	const struct own_site *site;

	(void)state;
	/* More than are read at once, by address or not. */
	put(PAGE_1 + INDEX, 1000, 4);
	put_record(RECORDS_1, 3, 0x5000, 0x80000001 | 1 << 30);
	put_record(RECORDS_1, 999, 0x4000, 0x84000002);
	put(PAGE_1 + NEXT, FAKE_VA(PAGE_2), 8);
	put(PAGE_2 + RECORDS, FAKE_VA(RECORDS_2), 8);
	put(PAGE_2 + INDEX, 3, 4);
	put_record(RECORDS_2, 0, 0x2000, 0x81400001);
	put_record(RECORDS_2, 1, 0x3000, 0x00180000); /* has had something */
	put_record(RECORDS_2, 2, 0x3800, 0x02000000); /* of a weak function */
	assert_int_equal(own_sites_read(&guest, NULL, &s), 0);
	assert_int_equal(s.n, 4);
	site = own_sites_find(&s, 0x5000);
	assert_non_null(site);
	assert_true(site->callbacks == 1 && site->regs && !site->ipmodify && !site->direct);
	site = own_sites_find(&s, 0x4000);
	assert_true(site && site->callbacks == 2 && site->ipmodify && !site->regs);
	site = own_sites_find(&s, 0x2000);
	assert_true(site && site->callbacks == 1 && site->direct && site->call_ops);
	assert_false(site->touched || site->modified);
	site = own_sites_find(&s, 0x3000);
	assert_true(site && !site->callbacks && site->touched && site->modified);
	assert_null(own_sites_find(&s, 0x3800));
	own_sites_free(&s);
}

static void none_are_no_error(void **state)
{
	struct own_sites s;

	(void)state;
	assert_int_equal(own_sites_read(&guest, NULL, &s), 0);
	assert_null(own_sites_find(&s, 0x5000));
	own_sites_free(&s);
	put(FIRST, 0, 8); /* it has not come so far yet */
	assert_int_equal(own_sites_read(&guest, NULL, &s), 0);
	assert_int_equal(s.n, 0);
	own_sites_free(&s);
}

static void nonsense_comes_to_an_end(void **state)
{
	struct own_sites s;

	(void)state;
	put(PAGE_1 + NEXT, FAKE_VA(PAGE_1), 8); /* in a circle */
	assert_int_equal(own_sites_read(&guest, NULL, &s), -E2BIG);
	put(PAGE_1 + NEXT, 0, 8);
	put(PAGE_1 + INDEX, UINT32_MAX, 4);
	assert_int_equal(own_sites_read(&guest, NULL, &s), -E2BIG);
	put(PAGE_1 + INDEX, 1, 4);
	put(PAGE_1 + RECORDS, FAKE_VA(FAKE_RAM), 8);
	assert_int_equal(own_sites_read(&guest, NULL, &s), -EFAULT);
	put(FIRST, 0x10, 8);
	assert_int_equal(own_sites_read(&guest, NULL, &s), -EFAULT);
}

static void odd_types_are_not_believed(void **state)
{
	struct own_sites s;

	(void)state;
	fake.ntypes = 0;
	fake_type("dyn_ftrace", 12);
	assert_int_equal(own_sites_read(&guest, NULL, &s), -ENODATA);
	fake.ntypes = 0;
	fake_type("dyn_ftrace", 0x10000);
	assert_int_equal(own_sites_read(&guest, NULL, &s), -ENODATA);
	fake.nfields = 2;
	assert_int_equal(own_sites_read(&guest, NULL, &s), -ENODATA);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(all_pages_are_read, set_up, image_tear_down),
		cmocka_unit_test_setup_teardown(none_are_no_error, set_up, image_tear_down),
		cmocka_unit_test_setup_teardown(nonsense_comes_to_an_end, set_up, image_tear_down),
		cmocka_unit_test_setup_teardown(odd_types_are_not_believed, set_up,
						image_tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
