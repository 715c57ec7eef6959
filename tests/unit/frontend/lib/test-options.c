// SPDX-License-Identifier: GPL-2.0-or-later
/* test-options.c - option tables: what is accepted, what is refused, what --help prints. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "frontend/lib/options.h"

static const struct option_usage usage = {"prog [OPTION]...", "About prog.", "prog -x\nprog -l a"};

struct values {
	bool flag;
	const char *string;
	struct option_list list;
	uint64_t number, size, time;
};

static int parse(struct values *v, int argc, const char **words)
{
	const struct option_row rows[] = {
		OPT_FLAG('x', "flag", &v->flag, "a flag"),
		OPT_STRING('s', "string", &v->string, "TEXT", "a string"),
		OPT_LIST('l', "list", &v->list, "ITEM", "an item"),
		OPT_NUMBER(0, "number", &v->number, 1, 100, "N", "a number"),
		OPT_SIZE_MB('m', "memory", &v->size, 1 << 20, UINT64_C(1) << 40, "MB", "a size"),
		OPT_TIME(0, "time", &v->time, "TIME", "a time"),
		OPT_END,
	};
	char *argv[16];
	int ret;

	for (int i = 0; i < argc; i++)
		argv[i] = strdup(words[i]);
	argv[argc] = NULL;
	ret = options_parse(argc, argv, rows, &usage);
	/* Strings point into argv: compare before it goes. */
	if (v->string)
		assert_string_equal(v->string, "text");
	for (size_t i = 0; i < v->list.nr; i++)
		assert_int_equal(strlen(v->list.values[i]), 1);
	for (int i = 0; i < argc; i++)
		free(argv[i]);
	return ret;
}

#define PARSE(v, ...)                                                                              \
	parse(v, sizeof((const char *[]){"prog", __VA_ARGS__}) / sizeof(char *),                   \
	      (const char *[]){"prog", __VA_ARGS__})

static void accepts_all_kinds(void **state)
{
	struct values v = {0};

	(void)state;
	assert_int_equal(
		PARSE(&v, "-x", "-stext", "-l", "a", "--list=b", "--number", "100", "rest"), 8);
	assert_true(v.flag);
	assert_non_null(v.string);
	assert_int_equal(v.list.nr, 2);
	assert_int_equal(v.number, 100);
	option_list_free(&v.list);
	assert_null(v.list.values);
}

static void sizes_have_units(void **state)
{
	static const struct {
		const char *text;
		uint64_t bytes;
	} cases[] = {
		{"64", UINT64_C(64) << 20},
		{"2g", UINT64_C(2) << 30},
		{"3M", UINT64_C(3) << 20},
		{"2048K", UINT64_C(2) << 20},
	};
	struct values v = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(PARSE(&v, "-m", cases[i].text), 3);
		assert_true(v.size == cases[i].bytes);
	}
}

static void times_have_units(void **state)
{
	static const struct {
		const char *text;
		uint64_t ms;
	} cases[] = {{"5", 5000}, {"1.5s", 1500}, {"200ms", 200}, {"2m", 120000}, {"1h", 3600000}};
	struct values v = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(PARSE(&v, "--time", cases[i].text), 3);
		assert_int_equal(v.time, cases[i].ms);
	}
}

static void refuses_bad_words(void **state)
{
	static const char *const bad[][2] = {
		{"--number", "0"},   {"--number", "101"},
		{"--number", "5x"},  {"--number", "-1"},
		{"--number", ""},    {"--memory", "1T"},
		{"--memory", "10K"}, {"--memory", "99999999999999999999"},
		{"--nosuch", "1"},   {"--time", "5d"},
		{"--time", "0"},     {"--time", "nan"},
		{"--time", "0x10"},  {"--time", "1e300"},
		{"-z", "1"},	     {"--mem", "5"},
		{"--numbe=5", "--"}, {"--flag=1", "--"},
		{"--fla", "--"},     {"--hel", "--"},
		{"--help=1", "--"},
	};
	struct values v = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(PARSE(&v, bad[i][0], bad[i][1]), OPTIONS_BAD);
	assert_int_equal(PARSE(&v, "--string"), OPTIONS_BAD);
}

/* What parsing these words says on stderr. */
static void expect_words(const char *said, int argc, const char **words)
{
	FILE *usual = stderr;
	struct values v = {0};
	char *text = NULL;
	size_t len = 0;

	stderr = open_memstream(&text, &len);
	assert_non_null(stderr);
	assert_int_equal(parse(&v, argc, words), OPTIONS_BAD);
	fclose(stderr);
	stderr = usual;
	assert_string_equal(text, said);
	free(text);
	option_list_free(&v.list);
}

#define EXPECT_SAID(said, ...)                                                                     \
	expect_words("hvtrace: " said "\n",                                                        \
		     sizeof((const char *[]){"prog", __VA_ARGS__}) / sizeof(char *),               \
		     (const char *[]){"prog", __VA_ARGS__})

static void says_what_may_be_meant(void **state)
{
	(void)state;
	EXPECT_SAID("no such option: --mem; did you mean --memory? (prog --help lists the options)",
		    "--mem", "5");
	EXPECT_SAID("no such option: --tiem; did you mean --time? (prog --help lists the options)",
		    "--tiem=5");
	EXPECT_SAID("no such option: --mem; did you mean --memory? (prog --help lists the options)",
		    "--mem");
	EXPECT_SAID("no such option: --other (prog --help lists the options)", "--other");
	EXPECT_SAID("no such option: -z (prog --help lists the options)", "--flag", "-xz");
	EXPECT_SAID("TEXT is missing after --string (prog --help)", "--string");
	EXPECT_SAID("TEXT is missing after -s (prog --help)", "-xs");
	EXPECT_SAID("--flag takes no value (prog --help)", "--flag=1");
}

static const char *colour(unsigned int i)
{
	static const char *const names[] = {"red", "green", "blue"};

	return i < 3 ? names[i] : NULL;
}

static void names_of_values(void **state)
{
	FILE *usual = stderr;
	char *text = NULL;
	size_t len = 0;

	(void)state;
	assert_true(option_is_one_of("colour", "blue", colour));
	stderr = open_memstream(&text, &len);
	assert_false(option_is_one_of("colour", "gren", colour));
	fclose(stderr);
	stderr = usual;
	assert_string_equal(text,
			    "hvtrace: --colour gren: there are red, green, blue; did you mean "
			    "green?\n");
	free(text);
}

static void help_has_a_line_for_each_row(void **state)
{
	const struct option_row rows[] = {
		OPT_FLAG('x', "flag", &(bool){false}, "a flag"),
		OPT_NUMBER(0, "number", &(uint64_t){0}, 1, 2, "N", "a number"),
		OPT_END,
	};
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	(void)state;
	options_print(out, rows, &usage);
	fclose(out);
	assert_non_null(strstr(text, "usage: prog [OPTION]..."));
	assert_non_null(strstr(text, "  -x, --flag"));
	assert_non_null(strstr(text, "      --number N"));
	assert_non_null(strstr(text, "-h, --help"));
	assert_non_null(strstr(text, "\nexamples:\n  $ prog -x\n  $ prog -l a\n"));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(accepts_all_kinds),
		cmocka_unit_test(sizes_have_units),
		cmocka_unit_test(times_have_units),
		cmocka_unit_test(refuses_bad_words),
		cmocka_unit_test(says_what_may_be_meant),
		cmocka_unit_test(names_of_values),
		cmocka_unit_test(help_has_a_line_for_each_row),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
