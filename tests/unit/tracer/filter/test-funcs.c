// SPDX-License-Identifier: GPL-2.0-or-later
/* test-funcs.c - the list of functions, and sets chosen from it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/fake-funcs.h"

static struct funcs *list(void)
{
	struct funcs *fs = funcs_new(fake_funcs, FAKE_NR);

	assert_non_null(fs);
	return fs;
}

static void expect(const struct funcs *fs, bool addrs, const char *want)
{
	struct text out = {0};

	funcs_print(fs, addrs, &out);
	text_putc(&out, '\0');
	assert_string_equal(out.buf, want);
	text_free(&out);
}

static void test_list(void **state)
{
	struct funcs *fs = list(), *none = funcs_new(NULL, 0);

	(void)state;
	assert_int_equal(fs->nr, FAKE_NR);
	for (uint32_t i = 0; i < FAKE_NR; i++) {
		assert_int_equal(funcs_at(fs, fake_funcs[i].addr), i);
		assert_int_equal(funcs_at(fs, fake_funcs[i].addr + 1), FUNC_NONE);
	}
	assert_true(funcs_have_module(fs, "ext4"));
	assert_false(funcs_have_module(fs, "ext"));
	expect(fs, false,
	       "__traceiter_initcall_level\n__ftrace_invalid_address___16\nvfs_read\n"
	       "vfs_write\nschedule\nvfs_open\next4_read [ext4]\next4_write [ext4]\n");
	assert_int_equal(funcs_at(none, 0), FUNC_NONE);
	expect(none, true, "");
	funcs_put(none);
	funcs_put(fs);
	fs = funcs_new(&fake_funcs[FAKE_EXT4_READ], 1);
	expect(fs, true, "ffffffffc0000020 ext4_read [ext4]\n");
	funcs_put(fs);
}

/* Names are copied, and all of many functions are found again. */
static void test_many(void **state)
{
	enum { MANY = 40000 };
	struct func *v = calloc(MANY, sizeof(*v));
	char(*names)[16] = calloc(MANY, sizeof(*names));
	struct funcs *fs;

	(void)state;
	for (size_t i = 0; i < MANY; i++) {
		snprintf(names[i], sizeof(names[i]), "func_%zu", i);
		v[i] = (struct func){.addr = FAKE_TEXT + i * 16, .name = names[i]};
	}
	fs = funcs_new(v, MANY);
	assert_non_null(fs);
	free(v);
	free(names);
	for (uint32_t i = 0; i < MANY; i++)
		assert_int_equal(funcs_at(fs, FAKE_TEXT + i * 16), i);
	assert_int_equal(funcs_at(fs, FAKE_TEXT + MANY * 16), FUNC_NONE);
	assert_string_equal(fs->v[MANY - 1].name, "func_39999");
	funcs_put(fs);
}

/* Several at one address: it is that of the first. */
static void test_same(void **state)
{
	enum { SAME = 100 };
	struct func *v = calloc(SAME, sizeof(*v));
	struct funcs *fs;

	(void)state;
	for (size_t i = 0; i < SAME; i++)
		v[i] = (struct func){.addr = FAKE_TEXT, .name = "f"};
	fs = funcs_new(v, SAME);
	assert_non_null(fs);
	free(v);
	assert_int_equal(funcs_at(fs, FAKE_TEXT), 0);
	assert_int_equal(funcs_at(fs, FAKE_TEXT + 1), FUNC_NONE);
	funcs_put(fs);
}

static void match(struct func_set *set, const char *func, const char *module, bool found,
		  const char *want)
{
	char f[64], m[64], got[16];

	snprintf(f, sizeof(f), "%s", func);
	snprintf(m, sizeof(m), "%s", module ? module : "");
	assert_int_equal(func_set_match(set, f, module ? m : NULL), found);
	fake_mark(set->funcs, set, got);
	assert_string_equal(got, want);
}

static void test_match(void **state)
{
	struct funcs *fs = list();
	struct func_set *set = func_set_new(fs);

	(void)state;
	funcs_put(fs); /* the set holds it */
	match(set, "nosuch", NULL, false, "........");
	assert_true(func_set_empty(set));
	match(set, "vfs_*", NULL, true, "..xx.x..");
	assert_int_equal(set->count, 3);
	match(set, "vfs_read", NULL, true, "..xx.x..");
	assert_int_equal(set->count, 3);
	match(set, "!vfs_r*", NULL, true, "...x.x..");
	match(set, "!schedule", NULL, true, "...x.x.."); /* matched, though it is not there */
	match(set, "!nosuch", NULL, false, "...x.x..");
	match(set, "!*", NULL, true, "........");
	match(set, "*", NULL, true, "x.xxxxxx"); /* not the one that is no function */
	match(set, "!*", NULL, true, "........");
	match(set, "1", NULL, true, "x.......");
	match(set, "2", NULL, true, "xx......"); /* but it counts */
	match(set, "0x3", NULL, true, "xxx.....");
	match(set, "!1", NULL, true, ".xx.....");
	match(set, "0", NULL, false, ".xx.....");
	match(set, "9", NULL, false, ".xx.....");
	match(set, "99999999", NULL, false, ".xx.....");
	match(set, "8", NULL, true, ".xx....x");
	func_set_free(set);
}

static void test_match_module(void **state)
{
	struct funcs *fs = list();
	struct func_set *set = func_set_new(fs);

	(void)state;
	match(set, "", "ext4", true, "......xx");
	match(set, "!*_read", "ext4", true, ".......x");
	match(set, "!", "ext4", true, "........");
	match(set, "*", "ext*", true, "......xx");
	match(set, "!*", "", true, "........"); /* of any module */
	match(set, "*write", "", true, ".......x");
	match(set, "*read", "!ext4", true, "..x....x");
	match(set, "", "!", true, "x.xxxx.x"); /* of no module */
	match(set, "schedule", "ext4", false, "x.xxxx.x");
	match(set, "", "ext", false, "x.xxxx.x");
	func_set_free(set);
	funcs_put(fs);
}

static void match_graph(struct func_set *set, const char *func, bool found, const char *want)
{
	char f[64], got[16];

	snprintf(f, sizeof(f), "%s", func);
	assert_int_equal(func_set_match_graph(set, f), found);
	fake_mark(set->funcs, set, got);
	assert_string_equal(got, want);
}

static void test_match_graph(void **state)
{
	struct funcs *fs = list();
	struct func_set *set = func_set_new(fs);

	(void)state;
	match_graph(set, "1", false, "........");
	match_graph(set, "vfs_*", true, "..xx.x..");
	match_graph(set, "vfs_read", true, "..xx.x..");
	match_graph(set, "!vfs_read", true, "...x.x..");
	match_graph(set, "!vfs_read", false, "...x.x.."); /* it must have been there */
	match_graph(set, "!*", true, "........");
	func_set_free(set);
	funcs_put(fs);
}

/* Functions are known again by address, name and module. */
static void test_copy(void **state)
{
	struct func moved[] = {fake_funcs[FAKE_SCHEDULE], fake_funcs[FAKE_VFS_READ],
			       fake_funcs[FAKE_VFS_OPEN], fake_funcs[FAKE_EXT4_READ]};
	struct funcs *fs = list(), *other;
	struct func_set *set = func_set_new(fs), *copy;

	(void)state;
	moved[2].name = "another";
	moved[3].module = "other";
	other = funcs_new(moved, 4);
	match(set, "*", NULL, true, "x.xxxxxx");
	copy = func_set_copy(set, other);
	assert_int_equal(copy->count, 2);
	assert_int_equal(copy->gone, 5);
	assert_true(func_set_has(copy, 0) && func_set_has(copy, 1));
	func_set_free(copy);
	copy = func_set_copy(set, fs);
	assert_int_equal(copy->count, 7);
	assert_int_equal(copy->gone, 0);
	func_set_free(copy);
	copy = func_set_copy(NULL, fs);
	assert_true(func_set_empty(copy));
	func_set_free(copy);
	func_set_free(set);
	funcs_put(other);
	funcs_put(fs);
}

/* 64 functions fill a word of bits. */
static void test_next(void **state)
{
	struct func v[128];
	struct func_set *set;
	struct funcs *fs;

	(void)state;
	for (size_t i = 0; i < 128; i++)
		v[i] = (struct func){.addr = i, .name = "f"};
	fs = funcs_new(v, 128);
	set = func_set_new(fs);
	assert_int_equal(func_set_next(set, 0), FUNC_NONE);
	func_set_add(set, 63);
	func_set_add(set, 64);
	func_set_add(set, 127);
	assert_int_equal(func_set_next(set, 0), 63);
	assert_int_equal(func_set_next(set, 64), 64);
	assert_int_equal(func_set_next(set, 65), 127);
	assert_int_equal(func_set_next(set, 128), FUNC_NONE);
	assert_int_equal(func_set_next(set, 5000), FUNC_NONE);
	func_set_free(set);
	funcs_put(fs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_list),	    cmocka_unit_test(test_many),
		cmocka_unit_test(test_match),	    cmocka_unit_test(test_match_module),
		cmocka_unit_test(test_match_graph), cmocka_unit_test(test_copy),
		cmocka_unit_test(test_next),	    cmocka_unit_test(test_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
