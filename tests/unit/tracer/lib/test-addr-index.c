// SPDX-License-Identifier: GPL-2.0-or-later
/* test-addr-index.c - finding by address, of addresses that somebody has chosen. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "tracer/lib/addr-index.h"

#define TEXT UINT64_C(0xffffffffc0000000)

enum { MANY = 30000 };

static uint64_t addrs[MANY];
static size_t looks; /* at the addresses of entries */

static uint64_t addr_of(const void *arg, uint32_t i)
{
	const uint64_t *v = arg;

	looks++;
	return v[i];
}

static void each_is_found(void)
{
	struct addr_index x;

	looks = 0;
	assert_int_equal(addr_index_init(&x, MANY, addr_of, addrs), 0);
	for (uint32_t i = 0; i < MANY; i++) {
		uint32_t *place = addr_index_place(&x, addrs[i]);

		assert_non_null(place);
		assert_int_equal(*place, ADDR_INDEX_NONE);
		*place = i;
	}
	for (uint32_t i = 0; i < MANY; i++)
		assert_int_equal(*addr_index_place(&x, addrs[i]), i);
	assert_int_equal(*addr_index_place(&x, TEXT - 1), ADDR_INDEX_NONE);
	addr_index_exit(&x);
	/* Two lookups, of one step or two each. */
	assert_true(looks < 8 * (size_t)MANY);
}

static void functions_are_found(void **state)
{
	(void)state;
	for (size_t i = 0; i < MANY; i++)
		addrs[i] = TEXT + 16 * i;
	each_is_found();
}

/* They fall together in a table that goes by what is left of a multiplication that all know. */
static void who_chooses_addresses_gains_nothing(void **state)
{
	uint64_t addr = TEXT;

	(void)state;
	for (size_t n = 0; n < MANY; addr++)
		if ((addr * UINT64_C(0x9e3779b97f4a7c15) >> 32 & 0xffff) < 256)
			addrs[n++] = addr;
	each_is_found();
}

static uint64_t all_the_same(const void *arg, uint32_t i)
{
	(void)arg;
	(void)i;
	looks++;
	return 0;
}

/* Nor would who could choose: a search ends. */
static void a_search_ends(void **state)
{
	struct addr_index x;

	(void)state;
	assert_int_equal(addr_index_init(&x, MANY, all_the_same, NULL), 0);
	for (uint32_t i = 0; i <= x.mask; i++)
		x.slot[i] = 0;
	looks = 0;
	assert_null(addr_index_place(&x, TEXT));
	assert_in_range(looks, 1, 2000);
	addr_index_exit(&x);
}

static void nothing_is_in_an_empty_one(void **state)
{
	struct addr_index x;

	(void)state;
	assert_int_equal(addr_index_init(&x, 0, addr_of, NULL), 0);
	assert_int_equal(*addr_index_place(&x, TEXT), ADDR_INDEX_NONE);
	addr_index_exit(&x);
	addr_index_exit(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_are_found),
		cmocka_unit_test(who_chooses_addresses_gains_nothing),
		cmocka_unit_test(a_search_ends),
		cmocka_unit_test(nothing_is_in_an_empty_one),
	};

	return cmocka_run_group_tests_name("addr-index", tests, NULL, NULL);
}
