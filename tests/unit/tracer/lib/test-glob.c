// SPDX-License-Identifier: GPL-2.0-or-later
/* test-glob.c - globs as in the kernel: how they are told apart, and what they match. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <fnmatch.h>

#include "tracer/lib/glob.h"
#include "tracer/core/trace.h"

#include "tests/seed.h"

static void parse(const char *text, struct glob *g, char copy[64])
{
	snprintf(copy, 64, "%s", text);
	glob_parse(g, copy);
}

static void test_types(void **state)
{
	static const struct {
		const char *text;
		enum glob_type type;
		bool invert;
		const char *search;
	} cases[] = {
		{"vfs_read", GLOB_FULL, false, "vfs_read"},
		{"!vfs_read", GLOB_FULL, true, "vfs_read"},
		{"vfs_*", GLOB_FRONT, false, "vfs_"},
		{"*_read", GLOB_END, false, "_read"},
		{"*vfs*", GLOB_MIDDLE, false, "vfs"},
		{"!*vfs*", GLOB_MIDDLE, true, "vfs"},
		{"*", GLOB_END, false, ""},
		{"**", GLOB_MIDDLE, false, ""},
		{"vfs_*r*d", GLOB_PATTERN, false, "vfs_*r*d"},
		{"*a*b", GLOB_PATTERN, false, "*a*b"},
		{"vfs_r?ad", GLOB_PATTERN, false, "vfs_r?ad"},
		{"vfs_r[ea]ad", GLOB_PATTERN, false, "vfs_r[ea]ad"},
		{"*[ea]", GLOB_PATTERN, false, "*[ea]"},
		{"a\\*", GLOB_PATTERN, false, "a\\*"},
		{"5", GLOB_INDEX, false, "5"},
		{"!5abc*", GLOB_INDEX, true, "5abc*"},
		{"", GLOB_FULL, false, ""},
		{"!", GLOB_FULL, true, ""},
		{"!!a", GLOB_FULL, true, "!a"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct glob g;
		char copy[64];

		parse(cases[i].text, &g, copy);
		assert_int_equal(g.type, cases[i].type);
		assert_int_equal(g.invert, cases[i].invert);
		assert_string_equal(g.search, cases[i].search);
		assert_int_equal(g.len, strlen(g.search));
	}
}

static bool matches(const char *text, const char *name)
{
	struct glob g;
	char copy[64];

	parse(text, &g, copy);
	return glob_match(&g, name);
}

static void test_match(void **state)
{
	(void)state;
	assert_true(matches("vfs_read", "vfs_read"));
	assert_false(matches("vfs_read", "vfs_readv"));
	assert_false(matches("vfs_read", "vfs_rea"));
	assert_true(matches("vfs_*", "vfs_"));
	assert_true(matches("vfs_*", "vfs_open"));
	assert_false(matches("vfs_*", "do_vfs_open"));
	assert_true(matches("*_read", "vfs_read"));
	assert_true(matches("*_read", "_read"));
	assert_false(matches("*_read", "read"));
	assert_false(matches("*_read", "_reads"));
	assert_true(matches("*vfs*", "vfs"));
	assert_true(matches("*vfs*", "do_vfs_open"));
	assert_false(matches("*vfs*", "do_vf_s"));
	assert_true(matches("*", ""));
	assert_true(matches("**", "anything"));
	assert_false(matches("", "anything"));
	assert_false(matches("5", "5"));
	assert_true(matches("vfs_*r*d", "vfs_iter_read"));
	assert_false(matches("vfs_*r*d", "vfs_iter_reads"));
}

static void test_pattern(void **state)
{
	static const struct {
		const char *pattern, *name;
		bool match;
	} cases[] = {
		{"a?c", "abc", true},
		{"a?c", "ac", false},
		{"a?", "a", false},
		{"[a-c]x", "bx", true},
		{"[a-c]x", "dx", false},
		{"[!a-c]x", "dx", true},
		{"[!a-c]x", "ax", false},
		{"[!a]", "", false},
		{"[]a]", "]", true},
		{"[]a]", "a", true},
		{"[!]a]", "b", true},
		{"[a-]", "-", true},
		{"[a-]", "b", false},
		{"[^a]", "^", true}, /* no complement: a character as any other */
		{"[^a]", "b", false},
		{"[c-a]", "b", false},
		{"[ab", "[ab", true}, /* without an end it is no class */
		{"[ab", "a", false},
		{"[a-", "[a-", true},
		{"[", "[", true},
		{"a\\*b", "a*b", true},
		{"a\\*b", "axb", false},
		{"a\\", "a", true}, /* a backslash at the end is nothing */
		{"a\\", "a\\", false},
		{"*\\", "anything", true},
		{"*aaaaa", "aaaaaaaaaa", true},
		{"*ab*ab", "aabab", true},
		{"*ab*ab", "aab", false},
		{"*a?c*", "xaabcx", true},
		{"*a?c*", "xabbcx", false},
		{"a**b", "ab", true},
		{"", "", true},
		{"?", "", false},
		{"*?", "", false},
		{"*[!x]", "abx", false},
		{"*[!x]", "axb", true},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (glob_pattern_match(cases[i].pattern, cases[i].name) != cases[i].match)
			fail_msg("'%s' against '%s'", cases[i].pattern, cases[i].name);
}

/* Where the kernel's rules and fnmatch(3)'s are the same. */
static void test_random(void **state)
{
	static const char letters[] = "ab*?*b";
	unsigned int n = test_seed();

	(void)state;
	for (int i = 0; i < 200000; i++) {
		char pattern[8] = "", name[10] = "";

		for (size_t j = 0; j < sizeof(pattern) - 1; j++) {
			n = n * 1103515245 + 12345;
			pattern[j] = (n >> 16 & 7) < 6 ? letters[n >> 16 & 7] : '\0';
		}
		for (size_t j = 0; j < sizeof(name) - 1; j++) {
			n = n * 1103515245 + 12345;
			name[j] = (n >> 16 & 7) ? letters[n >> 20 & 1] : '\0';
		}
		if (glob_pattern_match(pattern, name) == !!fnmatch(pattern, name, 0))
			fail_msg("'%s' against '%s'", pattern, name);
	}
}

/* As set_ftrace_filter takes them. */
static void test_kernels(void **state)
{
	static const struct {
		const char *glob, *name;
		bool matches;
	} cases[] = {
		{"alpha", "alpha", true},     {"alpha", "alphabet", false},
		{"al*", "alpha", true},	      {"*pha", "alpha", true},
		{"*ph*", "alpha", true},      {"a*a", "alpha", true},
		{"a*b", "alpha", false},      {"alph?", "alpha", true},
		{"?lpha", "alpha", true},     {"[a-c]l*", "alpha", true},
		{"[!a-c]l*", "alpha", false}, {"*", "", true},
		{"sys_[!a]*", "sys_b", true}, {"", "alpha", false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(glob_pattern_match(cases[i].glob, cases[i].name),
				 cases[i].matches);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_types),	cmocka_unit_test(test_match),
		cmocka_unit_test(test_pattern), cmocka_unit_test(test_random),
		cmocka_unit_test(test_kernels),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
