// SPDX-License-Identifier: GPL-2.0-or-later
/* test-walk.c - the page walker and the copies of machine.c, on made-up memory. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "vmm/core/backend.h"

#include "tests/seed.h"

#define PAGES 64
#define P     0x1ull  /* present */
#define PS    0x80ull /* large page */
#define NX    (1ull << 63)

struct fake {
	struct machine base;
	uint8_t ram[PAGES * 4096];
};

static void *fake_host_ptr(struct machine *m, uint64_t pa, size_t len)
{
	struct fake *f = (struct fake *)m;

	if (pa >= sizeof(f->ram) || len > sizeof(f->ram) - pa)
		return NULL;
	return f->ram + pa;
}

static const struct machine_ops fake_ops = {.name = "fake", .host_ptr = fake_host_ptr};

static int setup(void **state)
{
	struct fake *f = calloc(1, sizeof(*f));

	f->base.ops = &fake_ops;
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	free(*state);
	return 0;
}

static void put(struct fake *f, unsigned int table, unsigned int index, uint64_t entry)
{
	memcpy(f->ram + table * 4096 + index * 8, &entry, 8);
}

/* Tables in pages 1 (PML5), 2 (PML4), 3 (PDPT), 4 (PD), 5 (PT). */
static void build(struct fake *f)
{
	put(f, 1, 511, 2 << 12 | P);
	put(f, 1, 0x12, 2 << 12 | P);
	put(f, 2, 511, 3 << 12 | P);
	put(f, 3, 510, 4 << 12 | P);
	put(f, 3, 509, 1ull << 30 | PS | P | NX);
	put(f, 4, 8, 5 << 12 | P);
	put(f, 4, 9, 0x1200000 | 1 << 12 | PS | P); /* PAT set */
	put(f, 5, 3, 0x7654000 | P | NX);
	put(f, 5, 4, 0x7655000); /* not present */
}

static void check(struct fake *f, unsigned int table, unsigned int levels, uint64_t va,
		  uint64_t want_pa, uint64_t want_left)
{
	uint64_t pa = 0, left = 0;

	assert_int_equal(machine_walk(&f->base, table << 12 | 0x18, levels, va, &pa, &left), 0);
	assert_int_equal(pa, want_pa);
	assert_int_equal(left, want_left);
	assert_int_equal(machine_walk(&f->base, table << 12, levels, va, &pa, NULL), 0);
}

static void check_none(struct fake *f, unsigned int table, unsigned int levels, uint64_t va)
{
	uint64_t pa, left;

	assert_int_equal(machine_walk(&f->base, table << 12, levels, va, &pa, &left), -EFAULT);
}

static void test_four_levels(void **state)
{
	struct fake *f = *state;

	build(f);
	check(f, 2, 4, 0xffffffff81003123, 0x7654123, 4096 - 0x123);
	check(f, 2, 4, 0xffffffff81234567, 0x1234567, (2 << 20) - 0x34567);
	check(f, 2, 4, 0xffffffff40000010, 0x40000010, (1 << 30) - 0x10);
	check_none(f, 2, 4, 0xffffffff81004000); /* page not present */
	check_none(f, 2, 4, 0xffffffff82000000); /* no page table */
	check_none(f, 2, 4, 0x1000);		 /* no PDPT */
	check_none(f, 2, 4, 0x00ffffff81003123); /* not canonical */
	check_none(f, 2, 3, 0xffffffff81003123);
	check_none(f, 2, 6, 0xffffffff81003123);
}

static void test_five_levels(void **state)
{
	struct fake *f = *state;

	build(f);
	check(f, 1, 5, 0xffffffff81003123, 0x7654123, 4096 - 0x123);
	check(f, 1, 5, 0x0012ffff81234567, 0x1234567, (2 << 20) - 0x34567);
	check_none(f, 1, 5, 0x0112ffff81234567); /* not canonical */
	check_none(f, 1, 5, 0x0013ffff81234567);
}

/* Tables are the guest's to write: entries that lead out of memory, loops, garbage. */
static void test_hostile_tables(void **state)
{
	struct fake *f = *state;
	uint64_t pa, left;

	check_none(f, 60000, 4, 0x1000);
	put(f, 2, 0, ~0ull); /* to the end of the physical address space */
	check_none(f, 2, 4, 0x1000);
	put(f, 2, 0, 2 << 12 | P); /* to itself */
	check(f, 2, 4, 0, 0x2000, 4096);
	srand(test_seed());
	for (unsigned int i = 0; i < 200000; i++) {
		for (unsigned int j = 0; j < 8; j++)
			f->ram[(unsigned int)rand() % sizeof(f->ram)] = (uint8_t)rand();
		machine_walk(&f->base, (uint64_t)rand() % sizeof(f->ram), 4 + (i & 1),
			     (uint64_t)(int64_t)rand() << (rand() % 17), &pa, &left);
	}
}

static void test_copies(void **state)
{
	struct fake *f = *state;
	uint8_t in[10000], out[10000];

	for (size_t i = 0; i < sizeof(in); i++)
		in[i] = (uint8_t)(i * 7);
	assert_int_equal(machine_write(&f->base, 4000, in, sizeof(in)), 0);
	assert_int_equal(machine_read(&f->base, 4000, out, sizeof(out)), 0);
	assert_memory_equal(in, out, sizeof(in));
	assert_int_equal(machine_read(&f->base, 0, out, 0), 0);

	/* An error changes nothing. */
	memset(f->ram + sizeof(f->ram) - 100, 0x11, 100);
	assert_int_equal(machine_write(&f->base, sizeof(f->ram) - 100, in, 200), -EFAULT);
	assert_int_equal(f->ram[sizeof(f->ram) - 100], 0x11);
	assert_int_equal(machine_read(&f->base, sizeof(f->ram), out, 1), -EFAULT);
	assert_int_equal(machine_read(&f->base, UINT64_MAX - 10, out, 100), -EFAULT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_four_levels, setup, teardown),
		cmocka_unit_test_setup_teardown(test_five_levels, setup, teardown),
		cmocka_unit_test_setup_teardown(test_hostile_tables, setup, teardown),
		cmocka_unit_test_setup_teardown(test_copies, setup, teardown),
	};

	return cmocka_run_group_tests_name("walk", tests, NULL, NULL);
}
