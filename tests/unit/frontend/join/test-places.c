// SPDX-License-Identifier: GPL-2.0-or-later
/* test-places.c - who shares a place with whom. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "frontend/join/places.h"

static const char symbols_a[] = "ffffffff81000000 T _text\nffffffff81000100 T vfs_read\n";
static const char symbols_b[] = "ffffffff81000000 T _text\nffffffff81000200 T vfs_read\n";
static const char formats[] = "0xffff888000001000 : \"hello\"\n";

static struct dat_info info_of(const char *symbols)
{
	return (struct dat_info){
		.kallsyms = {symbols, strlen(symbols)},
		.printk_formats = {formats, strlen(formats)},
	};
}

static size_t add(struct places *p, const char *symbols, struct place_texts *texts)
{
	const struct dat_info info = info_of(symbols);
	struct place_move m;
	uint64_t addr;

	assert_int_equal(places_add(p, &info, texts, &m), 0);
	addr = place_of(&m, UINT64_C(0xffffffff81000000));
	place_move_exit(&m);
	return addr == UINT64_C(0xffffffff81000000) ? 0 : (size_t)((addr >> 32) & 0xff) + 1;
}

/* The first ones, and those that were moved. */
static void shared(void **state)
{
	struct places p = {.nr = 0};
	struct place_texts a, b, again;

	(void)state;
	assert_int_equal(add(&p, symbols_a, &a), 0);
	assert_int_equal(add(&p, symbols_b, &b), 1 + 0x80);
	assert_int_equal(p.nr, 2);
	assert_int_equal(add(&p, symbols_a, &again), 0);
	assert_memory_equal(&again, &a, sizeof(a));
	assert_int_equal(add(&p, symbols_b, &again), 1 + 0x80);
	assert_memory_equal(&again, &b, sizeof(b));
	assert_int_equal(p.nr, 2);
	places_exit(&p);
}

/* Whose sum is the same by chance, or was made to be. */
static void same_sum(void **state)
{
	struct places p = {.nr = 0}, other = {.nr = 0};
	struct place_texts a, b, again;

	(void)state;
	add(&other, symbols_b, &b);
	add(&p, symbols_a, &a);
	p.place[0].sum = other.place[0].sum;
	assert_int_not_equal(add(&p, symbols_b, &b), 0);
	assert_int_equal(p.nr, 2);
	assert_true(b.symbols >= a.symbols + a.symbols_len);
	assert_int_not_equal(add(&p, symbols_b, &again), 0);
	assert_int_equal(p.nr, 2);
	assert_memory_equal(&again, &b, sizeof(b));
	places_exit(&p);
	places_exit(&other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shared),
		cmocka_unit_test(same_sum),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
