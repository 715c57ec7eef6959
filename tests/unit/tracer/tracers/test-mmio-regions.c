// SPDX-License-Identifier: GPL-2.0-or-later
/* test-mmio-regions.c - numbers of regions, and which one an access is in. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tracer/tracers/mmio-regions.h"

enum { TASK = 0x1000, OTHER = 0x2000 };

#define BAR  UINT64_C(0xfe000000)
#define VIRT UINT64_C(0xffffc90000010000)

static struct mmio_regions r;

static int set_up(void **state)
{
	(void)state;
	mmio_regions_init(&r);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	mmio_regions_exit(&r);
	return 0;
}

/* ioremap(phys, len), which gives a page at virt. */
static void map(uint64_t phys, uint64_t len, uint64_t virt, int32_t id)
{
	struct mmio_region region;

	mmio_regions_begin(&r, TASK, phys & ~UINT64_C(4095), virt);
	assert_true(mmio_regions_end(&r, TASK, phys, len, &region));
	assert_int_equal(region.id, id);
	assert_int_equal(region.phys, phys);
	assert_int_equal(region.len, len);
	assert_int_equal(region.virt, virt + (phys & 4095));
}

static void numbers_go_up(void **state)
{
	(void)state;
	map(BAR, 0x1000, VIRT, 1);
	map(BAR + 0x1000, 0x1000, VIRT + 0x10000, 2);
	assert_int_equal(mmio_regions_remove(&r, VIRT), 1);
	assert_int_equal(mmio_regions_remove(&r, VIRT), -1);
	map(BAR, 0x1000, VIRT, 3);
	assert_int_equal(mmio_regions_find(&r, BAR), 3);
	assert_int_equal(mmio_regions_find(&r, BAR + 0x1fff), 2);
	assert_int_equal(mmio_regions_find(&r, BAR + 0x2000), 0);
	assert_int_equal(mmio_regions_find(&r, BAR - 1), 0);
}

/* As with kmmio: all of its pages. */
static void pages_are_whole(void **state)
{
	(void)state;
	map(BAR + 0x14, 1, VIRT, 1);
	assert_int_equal(mmio_regions_find(&r, BAR), 1);
	assert_int_equal(mmio_regions_find(&r, BAR + 0xfff), 1);
	assert_int_equal(mmio_regions_find(&r, BAR + 0x1000), 0);
	map(BAR + 0x14, 0x1000, VIRT + 0x10000, 2);
	assert_int_equal(mmio_regions_find(&r, BAR + 0x1fff), 2);
	assert_int_equal(mmio_regions_find(&r, BAR), 2); /* the last one of two */
	assert_int_equal(mmio_regions_remove(&r, VIRT + 0x10014), 2);
	assert_int_equal(mmio_regions_find(&r, BAR), 1);
}

static void tasks_map_at_a_time(void **state)
{
	struct mmio_region region;

	(void)state;
	mmio_regions_begin(&r, TASK, BAR, VIRT);
	mmio_regions_begin(&r, OTHER, BAR, VIRT + 0x10000);
	assert_true(mmio_regions_end(&r, TASK, BAR + 4, 8, &region));
	assert_int_equal(region.virt, VIRT + 4);
	assert_false(mmio_regions_end(&r, TASK, BAR + 4, 8, &region)); /* that was it */
	/* What it has begun and not ended does not count any more. */
	mmio_regions_begin(&r, OTHER, BAR + 0x1000, VIRT + 0x20000);
	assert_false(mmio_regions_end(&r, OTHER, BAR, 8, &region));
	assert_true(mmio_regions_end(&r, OTHER, BAR + 0x1000, 8, &region));
	assert_int_equal(region.virt, VIRT + 0x20000);
	/* Whose task cannot be told. */
	mmio_regions_begin(&r, 0, BAR, VIRT);
	assert_false(mmio_regions_end(&r, 0, BAR, 8, &region));
}

/* So many that begin and never end: the newest are known. */
static void beginnings_are_bounded(void **state)
{
	struct mmio_region region;

	(void)state;
	for (uint64_t t = 1; t <= 3 * MMIO_PENDING_MAX; t++)
		mmio_regions_begin(&r, t, BAR, VIRT);
	assert_false(mmio_regions_end(&r, 1, BAR, 8, &region));
	assert_true(mmio_regions_end(&r, 3 * MMIO_PENDING_MAX, BAR, 8, &region));
}

static void regions_are_bounded(void **state)
{
	(void)state;
	for (uint64_t n = 0; n < MMIO_REGIONS_MAX; n++) {
		assert_false(mmio_regions_are_full(&r));
		assert_true(mmio_regions_add(&r, BAR + 0x1000 * n, VIRT + 0x1000 * n, 0x1000));
	}
	assert_true(mmio_regions_are_full(&r));
	assert_false(mmio_regions_add(&r, BAR - 0x1000, VIRT - 0x1000, 0x1000));
	assert_int_equal(mmio_regions_remove(&r, VIRT), 1);
	assert_true(mmio_regions_add(&r, BAR - 0x1000, VIRT - 0x1000, 0x1000));
	assert_int_equal(mmio_regions_find(&r, BAR - 1), MMIO_REGIONS_MAX + 1);
}

static void count_told(void *arg, const struct mmio_region *region)
{
	int32_t *ids = arg;

	ids[++ids[0]] = region->id;
}

/* Only the page is known of those, and they have not been told. */
static void earlier_ones(void **state)
{
	int32_t ids[4] = {0};

	(void)state;
	assert_true(mmio_regions_add(&r, BAR, VIRT, 0x1000));
	assert_false(mmio_regions_add(&r, BAR, VIRT, 0x1000));
	map(BAR + 0x1000, 8, VIRT + 0x10000, 2);
	assert_true(mmio_regions_add(&r, BAR + 0x2000, VIRT + 0x20000, 0x1000));
	mmio_regions_tell(&r, count_told, ids);
	assert_int_equal(ids[0], 2);
	assert_int_equal(ids[1], 1);
	assert_int_equal(ids[2], 3);
	mmio_regions_tell(&r, count_told, ids);
	assert_int_equal(ids[0], 2);
	assert_int_equal(mmio_regions_remove(&r, VIRT + 0x14), 1);
	assert_int_equal(mmio_regions_find(&r, BAR), 0);
}

/* Nobody has seen that what was there before has been unmapped. */
static void addresses_are_used_again(void **state)
{
	(void)state;
	map(BAR + 0x14, 8, VIRT, 1);
	map(BAR + 0x5000, 8, VIRT, 2);
	assert_int_equal(mmio_regions_find(&r, BAR), 0);
	assert_int_equal(mmio_regions_remove(&r, VIRT), 2);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(numbers_go_up),
		TEST(pages_are_whole),
		TEST(tasks_map_at_a_time),
		TEST(beginnings_are_bounded),
		TEST(regions_are_bounded),
		TEST(earlier_ones),
		TEST(addresses_are_used_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
