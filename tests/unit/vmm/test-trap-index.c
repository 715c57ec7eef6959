// SPDX-License-Identifier: GPL-2.0-or-later
/* test-trap-index.c - the hash of trap addresses against a plain array. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "vmm/core/trap-index.h"

#include "tests/seed.h"

#define KEYS 512

static uint64_t key_of(unsigned int i)
{
	return 0xffffffff81000000ull + i * 16;
}

static void test_random(void **state)
{
	uint32_t want[KEYS];
	struct trap_index index = {0};
	size_t used = 0;

	(void)state;
	srand(test_seed());
	for (unsigned int i = 0; i < KEYS; i++)
		want[i] = TRAP_INDEX_NONE;
	for (unsigned int round = 0; round < 200000; round++) {
		unsigned int i = (unsigned int)rand() % KEYS;

		if (rand() % 3) {
			assert_int_equal(trap_index_reserve(&index, used + 1), 0);
			used += want[i] == TRAP_INDEX_NONE;
			want[i] = round;
			trap_index_put(&index, key_of(i), round);
		} else {
			used -= want[i] != TRAP_INDEX_NONE;
			want[i] = TRAP_INDEX_NONE;
			trap_index_del(&index, key_of(i));
		}
		i = (unsigned int)rand() % KEYS;
		assert_int_equal(trap_index_get(&index, key_of(i)), want[i]);
		assert_int_equal(index.used, used);
	}
	trap_index_free(&index);
}

/* Keys that all want the last slots, so that runs wrap around the end. */
static void test_wrap(void **state)
{
	struct trap_index index = {0};
	uint64_t keys[20];
	unsigned int n = 0;

	(void)state;
	assert_int_equal(trap_index_reserve(&index, 20), 0);
	for (uint64_t key = 1; n < 20; key++) {
		if ((key * 0x9e3779b97f4a7c15ull) >> index.shift >= index.slots - 3)
			keys[n++] = key;
	}
	for (unsigned int i = 0; i < n; i++)
		trap_index_put(&index, keys[i], i);
	for (unsigned int i = 0; i < n; i += 2)
		trap_index_del(&index, keys[i]);
	for (unsigned int i = 0; i < n; i++)
		assert_int_equal(trap_index_get(&index, keys[i]), i % 2 ? i : TRAP_INDEX_NONE);
	trap_index_free(&index);
}

static void test_empty(void **state)
{
	struct trap_index index = {0};

	(void)state;
	assert_int_equal(trap_index_get(&index, 1), TRAP_INDEX_NONE);
	assert_int_equal(trap_index_get(&index, UINT64_MAX), TRAP_INDEX_NONE);
	trap_index_del(&index, 1);
	trap_index_free(&index);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_wrap),
		cmocka_unit_test(test_empty),
	};

	return cmocka_run_group_tests_name("trap-index", tests, NULL, NULL);
}
