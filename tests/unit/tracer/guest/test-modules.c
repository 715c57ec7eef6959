// SPDX-License-Identifier: GPL-2.0-or-later
/* test-modules.c - what is known of modules that have gone, and for how long. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <malloc.h>
#include <stdio.h>

#include "tests/unit/fake-guest.h"
#include "tracer/guest/modules-places.h"
#include "tracer/guest/modules.h"

#define TEXT UINT64_C(0xffffffffc0000000)

enum { SIZE = 0x1000, LONG = 500, MANY = 3000 };

static struct guest_kernel g;
static struct module_list *list;
static struct module_symbol sym;

static int set_up(void **state)
{
	(void)state;
	memset(&fake, 0, sizeof(fake));
	list = modules_list_new();
	assert_non_null(list);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	modules_list_free(list);
	return 0;
}

/* One module with symbols that begin every 64 bytes: all that there is now. */
static void read_one(const char *name, uint64_t start, uint64_t end,
		     const struct guestsym_symbol *syms, size_t nr)
{
	fake.nmods = 1;
	fake.mods[0] = (struct guestsym_module){
		.name = name, .text = {start, end}, .syms = syms, .nr_syms = nr};
	assert_int_equal(modules_list_read(list, &g, NULL), 0);
}

static void read_small(const char *name, uint64_t start)
{
	const struct guestsym_symbol syms[] = {{start, "first", 't'},
					       {start + 0x40, "second", 't'}};

	read_one(name, start, start + SIZE, syms, 2);
}

static void expect(uint64_t addr, const char *name, const char *module, uint64_t off, uint64_t size)
{
	assert_true(modules_symbol(list, addr, &sym));
	assert_string_equal(sym.name, name);
	assert_string_equal(sym.module, module);
	assert_int_equal(sym.off, off);
	assert_int_equal(sym.size, size);
}

static void those_gone_are_named_until_others_come(void **state)
{
	const struct guestsym_symbol half = {TEXT + SIZE / 2, "half", 't'};

	(void)state;
	read_small("one", TEXT);
	read_small("two", TEXT + SIZE);
	expect(TEXT + 0x44, "second", "one", 4, SIZE - 0x40);
	assert_null(modules_name_at(list, TEXT));
	/* Half of it is another module's by now. */
	read_one("other", TEXT + SIZE / 2, TEXT + 2 * SIZE, &half, 1);
	expect(TEXT + SIZE / 2 - 1, "second", "one", SIZE / 2 - 1 - 0x40, SIZE - 0x40);
	expect(TEXT + SIZE, "half", "other", SIZE / 2, 3 * SIZE / 2);
	read_small("one", TEXT + 8 * SIZE);
	expect(TEXT + SIZE, "half", "other", SIZE / 2, 3 * SIZE / 2);
	assert_false(modules_symbol(list, TEXT + 4 * SIZE, &sym));
	assert_int_equal(modules_forgotten(list), 0);
}

static void the_first_to_go_is_forgotten_first(void **state)
{
	(void)state;
	for (unsigned int i = 0; i <= MODULES_GONE_MAX; i++)
		read_small("small", TEXT + (uint64_t)i * SIZE);
	assert_true(modules_symbol(list, TEXT, &sym));
	assert_int_equal(modules_forgotten(list), 0);
	read_small("small", TEXT + (uint64_t)(MODULES_GONE_MAX + 1) * SIZE);
	assert_false(modules_symbol(list, TEXT, &sym));
	assert_true(modules_symbol(list, TEXT + SIZE, &sym));
	assert_int_equal(modules_forgotten(list), 1);
}

/* A module of a hostile list: many symbols, long names; nothing of it is where the last one was. */
static void read_large(unsigned int n, struct guestsym_symbol *syms, const char *name)
{
	uint64_t start = TEXT + (uint64_t)n * SIZE;

	for (unsigned int i = 0; i < MANY; i++)
		syms[i] = (struct guestsym_symbol){start + i, name, 't'};
	read_one(name, start, start + SIZE, syms, MANY);
}

static void hostile_lists_cost_so_much_and_no_more(void **state)
{
	static struct guestsym_symbol syms[MANY];
	char name[LONG + 1];
	size_t before = mallinfo2().uordblks, after;

	(void)state;
	memset(name, 'n', LONG);
	name[LONG] = '\0';
	for (unsigned int i = 0; i < 40; i++)
		read_large(i, syms, name);
	read_small("small", TEXT + 40 * SIZE);
	after = mallinfo2().uordblks;
	assert_true(after < before + MODULES_GONE_BYTES + 65536);
	assert_true(modules_forgotten(list) > 30);
	/* The latest are named still, and who has a longer name than there is room for, by its
	 * beginning. */
	assert_true(modules_symbol(list, TEXT + 39 * SIZE + 7, &sym));
	assert_string_equal(sym.name, name);
	assert_int_equal(strlen(sym.module), MODULES_NAME_MAX - 1);
	assert_false(modules_symbol(list, TEXT, &sym));
}

static void what_is_larger_than_all_room_is_not_kept(void **state)
{
	static struct guestsym_symbol syms[MANY];
	static char name[2000];

	(void)state;
	memset(name, 'n', sizeof(name) - 1);
	read_small("small", TEXT + SIZE);
	read_large(0, syms, name);
	read_small("small", TEXT + 4 * SIZE);
	assert_false(modules_symbol(list, TEXT, &sym));
	assert_true(modules_symbol(list, TEXT + SIZE, &sym));
	assert_int_equal(modules_forgotten(list), 1);
}

/* --- which of many -----------------------------------------------------------------------------
 */

enum { NR = 4096, APART = 0x2000 };

static const struct module_place *place_at(const struct module_place *places, uint64_t addr)
{
	struct module_search s = {.addr = addr};
	const struct module_place *p = module_places_find(places, NR, &s);

	assert_in_range(s.looks, 1, 13); /* by halves; there may be a million questions */
	return p;
}

/* In the order that a kernel has them in, which is any. */
static void one_of_many_is_found_by_halves(void **state)
{
	static struct guestsym_module mods[NR];
	struct module_place *places;

	(void)state;
	for (size_t i = 0; i < NR; i++) {
		uint64_t start = TEXT + i * 2897 % NR * APART;

		mods[i].text = (struct guestsym_range){start, start + SIZE};
	}
	places = module_places_new(mods, NR);
	assert_non_null(places);
	for (size_t i = 0; i < NR; i++) {
		const uint64_t start = mods[i].text.start;

		assert_int_equal(place_at(places, start)->mod, i);
		assert_int_equal(place_at(places, start + SIZE - 1)->mod, i);
		assert_null(place_at(places, start + SIZE));
		assert_null(place_at(places, TEXT - 1));
	}
	assert_null(place_at(places, UINT64_MAX));
	free(places);
}

static void lists_that_are_lies_are_searched_likewise(void **state)
{
	static struct guestsym_module mods[NR];
	struct module_place *places;

	(void)state;
	for (size_t i = 0; i < NR; i++)
		mods[i].text = (struct guestsym_range){TEXT + i % 3, i % 2 ? 0 : UINT64_MAX};
	places = module_places_new(mods, NR);
	assert_non_null(places);
	for (uint64_t addr = TEXT; addr < TEXT + 8; addr++)
		place_at(places, addr);
	free(places);
}

static void those_that_are_there_are_named(void **state)
{
	const struct guestsym_symbol late = {TEXT + 4 * SIZE, "late", 't'},
				     early = {TEXT, "early", 't'};

	(void)state;
	fake.nmods = 2;
	fake.mods[0] = (struct guestsym_module){.name = "one",
						.text = {TEXT + 4 * SIZE, TEXT + 5 * SIZE},
						.syms = &late,
						.nr_syms = 1};
	fake.mods[1] = (struct guestsym_module){
		.name = "two", .text = {TEXT, TEXT + SIZE}, .syms = &early, .nr_syms = 1};
	assert_int_equal(modules_list_read(list, &g, NULL), 0);
	assert_string_equal(modules_name_at(list, TEXT + 5 * SIZE - 1), "one");
	assert_string_equal(modules_name_at(list, TEXT + SIZE - 1), "two");
	assert_null(modules_name_at(list, TEXT + SIZE));
	expect(TEXT + 4 * SIZE + 7, "late", "one", 7, SIZE);
	expect(TEXT + 7, "early", "two", 7, SIZE);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(one_of_many_is_found_by_halves),
		TEST(lists_that_are_lies_are_searched_likewise),
		TEST(those_that_are_there_are_named),
		TEST(those_gone_are_named_until_others_come),
		TEST(the_first_to_go_is_forgotten_first),
		TEST(hostile_lists_cost_so_much_and_no_more),
		TEST(what_is_larger_than_all_room_is_not_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
