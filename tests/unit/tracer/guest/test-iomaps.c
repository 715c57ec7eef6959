// SPDX-License-Identifier: GPL-2.0-or-later
/* test-iomaps.c - what a made-up guest has mapped of its devices, by the lists of both kernels. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "tests/unit/image-words.h"
#include "tracer/guest/iomaps.h"

/* Offsets in the made-up image. */
enum {
	LIST = 0x100,	 /* vmap_area_list */
	POINTER = 0x110, /* vmap_nodes */
	NR = 0x118,	 /* nr_vmap_nodes */
	NODES = 0x200,
	AREAS = 0x1000,
	STEP = 0x100, /* from one area to the next; its vm_struct is in the midst */
	VM = 0x80,
	NODE_SIZE = 0x40,
};

/* Offsets in structures. */
enum {
	AREA_LIST = 40,
	AREA_VM = 56,
	VM_ADDR = 8,
	VM_SIZE = 16,
	VM_FLAGS = 24,
	VM_PHYS = 48,
	BUSY_HEAD = 8,
};

enum { IOREMAP = 1, ALLOC = 2, NO_GUARD = 0x40 };

static int set_up(void **state)
{
	(void)state;
	image_set_up();
	fake_field("vmap_area.list", AREA_LIST, 16);
	fake_field("vmap_area.vm", AREA_VM, 8);
	fake_field("vm_struct.addr", VM_ADDR, 8);
	fake_field("vm_struct.size", VM_SIZE, 8);
	fake_field("vm_struct.flags", VM_FLAGS, 8);
	fake_field("vm_struct.phys_addr", VM_PHYS, 8);
	return 0;
}

static uint64_t area(unsigned int n)
{
	return AREAS + n * STEP;
}

/* Area n lies behind what the word at `before` leads to, and before the list's head. */
static void add(unsigned int n, uint64_t before, uint64_t head, uint64_t flags, uint64_t phys,
		uint64_t size)
{
	put(before, FAKE_VA(area(n) + AREA_LIST), 8);
	put(area(n) + AREA_LIST, FAKE_VA(head), 8);
	put(area(n) + AREA_VM, FAKE_VA(area(n) + VM), 8);
	put(area(n) + VM + VM_ADDR, 0xffffc90000000000 + 0x10000 * n, 8);
	put(area(n) + VM + VM_SIZE, size, 8);
	put(area(n) + VM + VM_FLAGS, flags, 8);
	put(area(n) + VM + VM_PHYS, phys, 8);
}

static void expect_map(const struct iomap *m, unsigned int n, uint64_t phys, uint64_t len)
{
	assert_int_equal(m->virt, 0xffffc90000000000 + 0x10000 * n);
	assert_int_equal(m->phys, phys);
	assert_int_equal(m->len, len);
}

/* --- one list --------------------------------------------------------------------------------- */

static uint64_t next_of(unsigned int n)
{
	return area(n) + AREA_LIST;
}

static void add_list(void)
{
	fake_symbol("vmap_area_list", FAKE_VA(LIST), 'D');
	add(0, LIST, LIST, ALLOC, 0, 0x5000); /* somebody's stack */
	add(1, next_of(0), LIST, IOREMAP, 0xfe000000, 0x3000);
	add(2, next_of(1), LIST, IOREMAP, 0, 0x2000); /* is being made */
	add(3, next_of(2), LIST, IOREMAP, 0, 0x2000);
	put(area(3) + AREA_VM, 0, 8); /* vm_map_ram() */
	add(4, next_of(3), LIST, IOREMAP | NO_GUARD, 0xfed00000, 0x1000);
}

static void regions_are_found(void **state)
{
	struct iomaps m;

	(void)state;
	add_list();
	assert_int_equal(iomaps_read(&guest, NULL, &m), 0);
	assert_int_equal(m.n, 2);
	expect_map(&m.v[0], 1, 0xfe000000, 0x2000);
	expect_map(&m.v[1], 4, 0xfed00000, 0x1000);
	iomaps_free(&m);
	assert_int_equal(m.n, 0);
}

static void none_yet(void **state)
{
	struct iomaps m;

	(void)state;
	fake_symbol("vmap_area_list", FAKE_VA(LIST), 'D');
	put(LIST, FAKE_VA(LIST), 8);
	assert_int_equal(iomaps_read(&guest, NULL, &m), 0);
	assert_int_equal(m.n, 0);
	iomaps_free(&m);
}

/* --- several ---------------------------------------------------------------------------------- */

static uint64_t head_of(unsigned int node)
{
	return NODES + node * NODE_SIZE + BUSY_HEAD;
}

static void add_nodes(void)
{
	fake_symbol("vmap_nodes", FAKE_VA(POINTER), 'b');
	fake_symbol("nr_vmap_nodes", FAKE_VA(NR), 'd');
	fake_field("vmap_node.busy.head", BUSY_HEAD, 16);
	fake_type("vmap_node", NODE_SIZE);
	put(POINTER, FAKE_VA(NODES), 8);
	put(NR, 3, 4);
	put(head_of(1), FAKE_VA(head_of(1)), 8);
	add(0, head_of(0), head_of(0), IOREMAP, 0xfe000000, 0x3000);
	add(1, head_of(2), head_of(2), ALLOC, 0, 0x5000);
	add(2, next_of(1), head_of(2), IOREMAP, 0xfe004000, 0x2000);
}

static void regions_of_nodes_are_found(void **state)
{
	struct iomaps m;

	(void)state;
	add_nodes();
	assert_int_equal(iomaps_read(&guest, NULL, &m), 0);
	assert_int_equal(m.n, 2);
	expect_map(&m.v[0], 0, 0xfe000000, 0x2000);
	expect_map(&m.v[1], 2, 0xfe004000, 0x1000);
	iomaps_free(&m);
}

/* --- nonsense --------------------------------------------------------------------------------- */

static void what_is_not_told(void **state)
{
	struct iomaps m;

	(void)state;
	assert_int_equal(iomaps_read(&guest, NULL, &m), -ENODATA); /* no list */
	add_nodes();
	put(NR, 100000, 4);
	assert_int_equal(iomaps_read(&guest, NULL, &m), -EFAULT);
	put(NR, 0, 4);
	assert_int_equal(iomaps_read(&guest, NULL, &m), -EFAULT);
	fake.nfields = 3;
	assert_int_equal(iomaps_read(&guest, NULL, &m), -ENODATA);
}

/* It is walked for so long, and no more is kept of it than a guest may sensibly have. */
static void lists_without_end(void **state)
{
	struct iomaps m;

	(void)state;
	add_list();
	put(next_of(4), FAKE_VA(next_of(0)), 8);
	assert_int_equal(iomaps_read(&guest, NULL, &m), -E2BIG);
	put(next_of(0), FAKE_VA(next_of(0)), 8); /* none of which is of interest */
	assert_int_equal(iomaps_read(&guest, NULL, &m), -E2BIG);
	put(next_of(0), 0x1234, 8);
	assert_int_equal(iomaps_read(&guest, NULL, &m), -EFAULT);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, image_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(regions_are_found), TEST(none_yet),	  TEST(regions_of_nodes_are_found),
		TEST(what_is_not_told),	 TEST(lists_without_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
