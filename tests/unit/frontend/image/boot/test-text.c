// SPDX-License-Identifier: GPL-2.0-or-later
/* test-text.c - versions, paths and words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "frontend/image/boot/local.h"

/* The examples of the version format specification, and kernels; each is older than the next. */
static void test_versions(void **state)
{
	static const char *const rows[][6] = {
		{"11~rc1", "11", "11.1", "123"},
		{"122.1", "123~rc1-1", "123", "123-a", "123-a.1"},
		{"123-a.1", "123-1", "123-1.1", "123^post1", "123.a-1", "123.1-1"},
		{"122^x", "123", "123-1", "123^x", "123.1"},
		{"6.1.0-9-amd64", "6.1.0-13-amd64", "6.9.0-1-amd64", "6.10.0-1-amd64"},
		{"6.5.6-300.fc39.x86_64", "6.10.3-200.fc39.x86_64", "6.10.3-201.fc39.x86_64"},
		{"0-rescue", "5.14.21"},
		{"abc-A", "abc-a", "abc-b"},
		{"", "0.1", "1"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		for (size_t j = 1; j < 6 && rows[i][j]; j++) {
			const char *old = rows[i][j - 1], *new = rows[i][j];

			if (boot_version_compare(old, new) >= 0 ||
			    boot_version_compare(new, old) <= 0)
				fail_msg("%s is not older than %s", old, new);
		}
	assert_int_equal(boot_version_compare("6.1", "6.1"), 0);
	assert_int_equal(boot_version_compare("06.1", "6.01"), 0);
	assert_int_equal(boot_version_compare("6_1", "6 1"), 0);
}

static void test_paths(void **state)
{
	static const struct {
		const char *folder, *path, *is;
	} tests[] = {
		{"/", "/a/b", "/a/b"},
		{"/boot", "a", "/boot/a"},
		{"/boot", "/a", "/a"},
		{"/boot/x", "../a", "/boot/a"},
		{"/boot", "../../../a", "/a"},
		{"/", "//a/./b//c/", "/a/b/c"},
		{"/", "", "/"},
		{"/boot", ".", "/boot"},
		{"/", "..", "/"},
		{"/", "...", "/..."},
	};
	char folder[BOOT_PATH_MAX], longest[BOOT_PATH_MAX + 8];
	struct boot_file f;

	(void)state;
	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
		assert_int_equal(boot_path(&f, 3, tests[i].folder, tests[i].path), 0);
		assert_string_equal(f.path, tests[i].is);
		assert_int_equal(f.volume, 3);
	}
	memset(longest, 'a', sizeof(longest));
	longest[0] = '/';
	longest[BOOT_PATH_MAX - 1] = '\0';
	assert_int_equal(boot_path(&f, 0, "/", longest), 0);
	assert_string_equal(f.path, longest);
	longest[BOOT_PATH_MAX - 1] = 'a';
	longest[BOOT_PATH_MAX] = '\0';
	assert_int_not_equal(boot_path(&f, 0, "/", longest), 0);

	assert_int_equal(boot_path(&f, 0, "/", "/a/b/c"), 0);
	boot_folder_of(&f, folder);
	assert_string_equal(folder, "/a/b");
	assert_int_equal(boot_path(&f, 0, "/", "/a"), 0);
	boot_folder_of(&f, folder);
	assert_string_equal(folder, "/");
}

static void test_cmdline(void **state)
{
	char line[8] = "";

	(void)state;
	assert_true(boot_add_word(line, sizeof(line), "abc", 3));
	assert_true(boot_add_word(line, sizeof(line), "", 0));
	assert_false(boot_add_word(line, sizeof(line), "defg", 4));
	assert_string_equal(line, "abc");
	assert_true(boot_add_word(line, sizeof(line), "def", 3));
	assert_string_equal(line, "abc def");
}

static void test_lines(void **state)
{
	char text[] = "# no\n\n  a b  c \r\nd\n\te\t f#g\n#";
	char *at = text;
	struct boot_line line;

	(void)state;
	assert_true(boot_next_line(&at, &line));
	assert_string_equal(line.key, "a");
	assert_string_equal(line.value, "b  c");
	assert_true(boot_next_line(&at, &line));
	assert_string_equal(line.key, "d");
	assert_string_equal(line.value, "");
	assert_true(boot_next_line(&at, &line));
	assert_string_equal(line.key, "e");
	assert_string_equal(line.value, "f#g");
	assert_false(boot_next_line(&at, &line));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_versions),
		cmocka_unit_test(test_paths),
		cmocka_unit_test(test_cmdline),
		cmocka_unit_test(test_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
