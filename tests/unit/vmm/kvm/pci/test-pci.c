// SPDX-License-Identifier: GPL-2.0-or-later
/* test-pci.c - configuration space, BARs and MSI-X of functions on a bus; needs no KVM. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "vmm/kvm/pci/pci.h"

#define BAR_SIZE 0x8000u
#define BAR_AT	 0xd0000000u
#define TABLE	 0x6000u
#define PENDING	 0x7000u

struct bus {
	struct pci_bus bus;
	struct pci_function bridge, f;
	uint64_t from, to;
	unsigned int moves, routes[4], fires[4];
	struct pci_msi msi[4];
	uint32_t off;
	uint64_t val;
};

static uint64_t bar_read(void *arg, uint32_t off, unsigned int size)
{
	(void)arg, (void)size;
	return 0x1122334455660000u + off;
}

static void bar_write(void *arg, uint32_t off, unsigned int size, uint64_t val)
{
	struct bus *b = arg;

	(void)size;
	b->off = off;
	b->val = val;
}

static void bar_moved(void *arg, uint64_t from, uint64_t to)
{
	struct bus *b = arg;

	b->from = from;
	b->to = to;
	b->moves++;
}

static void route(void *arg, unsigned int vector, const struct pci_msi *msi)
{
	struct bus *b = arg;

	b->routes[vector]++;
	b->msi[vector] = *msi;
}

static void fire(void *arg, unsigned int vector)
{
	struct bus *b = arg;

	b->fires[vector]++;
}

static int setup(void **state)
{
	static const struct pci_identity bridge = {0x1b36, 8, 0, 0, 0x060000, 0};
	static const struct pci_identity id = {0x1af4, 0x1042, 0x1af4, 0x1142, 0x018000, 1};
	struct bus *b = calloc(1, sizeof(*b));
	const struct pci_bar bar = {bar_read, bar_write, bar_moved, b};
	const struct pci_host host = {route, fire, b};

	assert_non_null(b);
	pci_function_init(&b->bridge, &bridge);
	pci_function_init(&b->f, &id);
	pci_function_bar(&b->f, &bar, BAR_SIZE, BAR_AT, &host, 3);
	b->bus.slot[0] = &b->bridge;
	b->bus.slot[3] = &b->f;
	*state = b;
	return 0;
}

static int teardown(void **state)
{
	struct bus *b = *state;

	pci_function_exit(&b->f);
	pci_function_exit(&b->bridge);
	free(b);
	return 0;
}

static uint32_t get(struct bus *b, unsigned int slot, unsigned int reg, unsigned int size)
{
	b->bus.address = 1u << 31 | slot << 11 | (reg & 0xfc);
	return pci_bus_read(&b->bus, 0xcfc + (reg & 3), size);
}

static void put(struct bus *b, unsigned int reg, unsigned int size, uint32_t val)
{
	b->bus.address = 1u << 31 | 3 << 11 | (reg & 0xfc);
	pci_bus_write(&b->bus, 0xcfc + (reg & 3), size, val);
}

static void test_identity(void **state)
{
	struct bus *b = *state;

	assert_int_equal(get(b, 0, 0, 4), 0x00081b36);
	assert_int_equal(get(b, 0, 10, 2), 0x0600);
	assert_int_equal(get(b, 3, 0, 4), 0x10421af4);
	assert_int_equal(get(b, 3, 8, 4), 0x01800001);
	assert_int_equal(get(b, 3, 0x2c, 4), 0x11421af4);
	assert_int_equal(get(b, 3, 0x3d, 1), 0); /* no interrupt pin */
	assert_int_equal(get(b, 3, 0x0e, 1), 0); /* one function */
	put(b, 0, 4, 0);
	put(b, 8, 4, 0);
	assert_int_equal(get(b, 3, 0, 4), 0x10421af4);
	assert_int_equal(get(b, 3, 8, 4), 0x01800001);
}

static void test_nothing_there(void **state)
{
	struct bus *b = *state;
	static const uint32_t empty[] = {
		1u << 31 | 4 << 11,	      /* a slot */
		1u << 31 | 3 << 11 | 1 << 8,  /* a function */
		1u << 31 | 3 << 11 | 1 << 16, /* a bus */
		3 << 11,		      /* not enabled */
	};

	for (size_t i = 0; i < sizeof(empty) / sizeof(empty[0]); i++) {
		b->bus.address = empty[i];
		assert_int_equal(pci_bus_read(&b->bus, 0xcfc, 4), UINT32_MAX);
		pci_bus_write(&b->bus, 0xcfc, 4, 0);
	}
	/* Over the end of the configuration space. */
	assert_int_equal(get(b, 3, 0xfe, 4), UINT32_MAX);
	put(b, 0xff, 2, 0xffff);
}

static void test_capabilities(void **state)
{
	struct bus *b = *state;
	uint8_t bytes[20];
	int at;

	memset(bytes, 0xab, sizeof(bytes));
	assert_int_equal(get(b, 0, 6, 2) & 0x10, 0);
	assert_int_equal(get(b, 3, 6, 2) & 0x10, 0x10);
	assert_int_equal(get(b, 3, 0x34, 1), 0x40);
	assert_int_equal(get(b, 3, 0x40, 2), 0x0011); /* MSI-X, the last one */
	assert_int_equal(get(b, 3, 0x42, 2), 2);      /* three vectors */
	assert_int_equal(get(b, 3, 0x44, 4), TABLE);
	assert_int_equal(get(b, 3, 0x48, 4), PENDING);
	at = pci_add_capability(&b->f, 9, bytes, 17);
	assert_int_equal(at, 0x4c);
	assert_int_equal(get(b, 3, 0x41, 1), at);
	assert_int_equal(get(b, 3, 0x4c, 4), 0xabab0009);
	assert_int_equal(pci_add_capability(&b->f, 9, bytes, 2), 0x60);
	while ((at = pci_add_capability(&b->f, 9, bytes, sizeof(bytes))) > 0)
		assert_true(at + 2 + (int)sizeof(bytes) <= PCI_CONFIG_SIZE);
}

static void test_bar_is_found_and_moves(void **state)
{
	struct bus *b = *state;
	uint32_t off;

	assert_null(pci_bus_find(&b->bus, BAR_AT, 4, &off)); /* not enabled yet */
	put(b, 4, 2, 2);
	assert_ptr_equal(pci_bus_find(&b->bus, BAR_AT + 0x2004, 4, &off), &b->f);
	assert_int_equal(off, 0x2004);
	assert_ptr_equal(pci_bus_find(&b->bus, BAR_AT + BAR_SIZE - 4, 4, &off), &b->f);
	assert_null(pci_bus_find(&b->bus, BAR_AT + BAR_SIZE - 3, 4, &off));
	assert_null(pci_bus_find(&b->bus, BAR_AT - 1, 4, &off));
	assert_int_equal(b->moves, 1);
	assert_true(b->from == 0 && b->to == BAR_AT);
	/* How its size is found out. */
	put(b, 4, 2, 0);
	assert_true(b->from == BAR_AT && b->to == 0);
	put(b, 0x10, 4, UINT32_MAX);
	assert_int_equal(get(b, 3, 0x10, 4), ~(BAR_SIZE - 1));
	assert_int_equal(get(b, 3, 0x14, 4), 0);
	put(b, 0x10, 4, 0xd8001234);
	assert_int_equal(get(b, 3, 0x10, 4), 0xd8000000);
	assert_int_equal(b->moves, 2);
	put(b, 4, 2, 6);
	assert_true(b->from == 0 && b->to == 0xd8000000);
	put(b, 0x13, 1, 0xd9); /* one byte, while it is there */
	assert_true(b->from == 0xd8000000 && b->to == 0xd9000000);
	assert_null(pci_bus_find(&b->bus, 0xd8000000, 4, &off));
}

static void test_bar_access(void **state)
{
	struct bus *b = *state;
	uint8_t bytes[8] = {0};

	pci_bar_read(&b->f, 0x2004, bytes, 2);
	assert_int_equal(bytes[0] | bytes[1] << 8, 0x2004);
	assert_int_equal(bytes[2], 0);
	pci_bar_read(&b->f, TABLE - 4, bytes, 8); /* half of it is the table's */
	assert_memory_equal(bytes, "\xff\xff\xff\xff\xff\xff\xff\xff", 8);
	pci_bar_write(&b->f, 0x10, (const uint8_t *)"\x01\x02\x03\x04", 4);
	assert_int_equal(b->off, 0x10);
	assert_int_equal(b->val, 0x04030201);
}

static void table_put(struct bus *b, unsigned int off, uint32_t val)
{
	pci_bar_write(&b->f, TABLE + off, (const uint8_t *)&val, 4);
}

static uint32_t table_get(struct bus *b, unsigned int off)
{
	uint32_t val;

	pci_bar_read(&b->f, off, (uint8_t *)&val, 4);
	return val;
}

static void test_vector_fires(void **state)
{
	struct bus *b = *state;

	put(b, 0x42, 2, 0x8000);
	table_put(b, 16, 0xfee01000);
	table_put(b, 24, 0x4041);
	assert_int_equal(b->routes[1], 0); /* masked still */
	table_put(b, 28, 0);
	assert_int_equal(b->routes[1], 1);
	assert_true(b->msi[1].address == 0xfee01000 && b->msi[1].data == 0x4041);
	pci_signal(&b->f, 1);
	assert_int_equal(b->fires[1], 1);
	table_put(b, 28, 1);
	table_put(b, 28, 0);
	assert_int_equal(b->routes[1], 1); /* the same message */
	assert_int_equal(b->fires[1], 1);
	table_put(b, 28, 1);
	table_put(b, 20, 7);
	table_put(b, 28, 0);
	assert_int_equal(b->routes[1], 2);
	assert_true(b->msi[1].address == 0x7fee01000);
	pci_signal(&b->f, 3); /* there are three */
	pci_signal(&b->f, 0xffff);
}

static void test_masked_vector_waits(void **state)
{
	struct bus *b = *state;

	table_put(b, 12, 0);
	pci_signal(&b->f, 0);
	assert_int_equal(b->fires[0], 0); /* MSI-X is off */
	assert_int_equal(table_get(b, PENDING), 1);
	put(b, 0x42, 2, 0xc000); /* on, all masked */
	assert_int_equal(b->fires[0], 0);
	put(b, 0x42, 2, 0x8000);
	assert_int_equal(b->fires[0], 1);
	assert_int_equal(table_get(b, PENDING), 0);
	table_put(b, 12, 1);
	pci_signal(&b->f, 0);
	pci_signal(&b->f, 0);
	assert_int_equal(b->fires[0], 1);
	table_put(b, 12, 0);
	assert_int_equal(b->fires[0], 2); /* once for both */
	assert_int_equal(get(b, 3, 0x42, 2), 0x8002);
}

static void test_table_of_any_size(void **state)
{
	struct bus *b = *state;
	uint64_t entry = 0x123456789abcdef0;

	pci_bar_write(&b->f, TABLE, (const uint8_t *)&entry, 8);
	assert_int_equal(table_get(b, TABLE + 4), 0x12345678);
	pci_bar_write(&b->f, TABLE + 12, (const uint8_t *)&entry, 8); /* over its end: nothing */
	assert_int_equal(table_get(b, TABLE + 12), 1);
	table_put(b, 48, 1); /* behind the last one */
	assert_int_equal(table_get(b, TABLE + 48), 0);
	assert_int_equal(table_get(b, PENDING + 5), 0);
	assert_int_equal(table_get(b, BAR_SIZE - 4), 0);
}

/* As it was at first, but that the host knows where a vector was routed to. */
static void test_reset(void **state)
{
	struct bus *b = *state;
	uint32_t off;

	put(b, 4, 2, 6);
	put(b, 0x10, 4, 0xd8000000);
	put(b, 0x3c, 1, 9);
	put(b, 0x42, 2, 0x8000);
	table_put(b, 16, 0xfee01000);
	table_put(b, 28, 0);
	table_put(b, 0, 0xfee02000);
	pci_signal(&b->f, 0); /* masked, so that it waits */
	assert_int_equal(table_get(b, PENDING), 1);
	pci_function_reset(&b->f);
	assert_true(b->from == 0xd8000000 && b->to == 0);
	assert_null(pci_bus_find(&b->bus, 0xd8000000, 4, &off));
	assert_int_equal(get(b, 3, 4, 2), 0);
	assert_int_equal(get(b, 3, 0x10, 4), BAR_AT);
	assert_int_equal(get(b, 3, 0x3c, 1), 0);
	assert_int_equal(get(b, 3, 0, 4), 0x10421af4);
	assert_int_equal(get(b, 3, 0x42, 2), 2); /* of three vectors */
	assert_int_equal(table_get(b, PENDING), 0);
	assert_int_equal(table_get(b, TABLE + 16), 0);
	assert_int_equal(table_get(b, TABLE + 28), 1);
	pci_signal(&b->f, 1);
	assert_int_equal(b->fires[1], 0);
	put(b, 4, 2, 2);
	assert_ptr_equal(pci_bus_find(&b->bus, BAR_AT, 4, &off), &b->f);
	pci_function_reset(&b->bridge); /* has no BAR */
	assert_int_equal(get(b, 0, 0x10, 4), 0);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_identity),
		TEST(test_nothing_there),
		TEST(test_capabilities),
		TEST(test_bar_is_found_and_moves),
		TEST(test_bar_access),
		TEST(test_vector_fires),
		TEST(test_masked_vector_waits),
		TEST(test_table_of_any_size),
		TEST(test_reset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
