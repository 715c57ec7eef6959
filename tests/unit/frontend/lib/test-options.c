// SPDX-License-Identifier: GPL-2.0-or-later
/* test-options.c - option tables: what is accepted, what is refused, what --help prints. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "frontend/lib/options-form.h"

static const struct option_usage usage = {"prog [OPTION]...", "About prog.", "prog -x\nprog -l a"};

struct values {
	bool flag;
	const char *string, *colour;
	struct option_list list;
	uint64_t number, size, time;
};

static const char *colour(unsigned int i)
{
	static const char *const names[] = {"red", "green", "blue"};

	return i < 3 ? names[i] : NULL;
}

static int parse(struct values *v, int argc, const char **words)
{
	const struct option_row rows[] = {
		OPT_FLAG('x', "flag", &v->flag, "a flag"),
		OPT_STRING('s', "string", &v->string, "TEXT", "a string"),
		OPT_LIST('l', "list", &v->list, "ITEM", "an item"),
		OPT_NUMBER(0, "number", &v->number, 1, 100, "N", "a number"),
		OPT_SIZE_MB('m', "memory", &v->size, 1 << 20, UINT64_C(1) << 40, "MB", "a size"),
		OPT_TIME(0, "time", &v->time, "TIME", "a time"),
		OPT_ONE_OF(colour, 0, "colour", &v->colour, "COLOUR", "a colour"),
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
		{"--help=1", "--"},  {"--colour", "gre"},
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
	EXPECT_SAID("--help takes no value (prog --help)", "--help=1");
	EXPECT_SAID("--colour gren: there are red, green, blue; did you mean green?",
		    "--colour=gren");
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

#define SEVENTY "seventy columns of a text that has to go on in the next line of --help,"

static struct option_list file_list;

/* Rows of each kind, as a command has them. */
static const struct option_row faces[] = {
	OPT_FLAG('x', "flag", &(bool){false}, "a [flag]: isn't it"),
	OPT_NUMBER(0, "number", &(uint64_t){0}, 1, 2, "N", "a number"),
	OPT_LIST('f', "file", &file_list, "FILE", SEVENTY " as it is long"),
	OPT_STRING_OF("guest", 'g', "guest", &(const char *){NULL}, "NAME", "a guest"),
	OPT_ONE_OF(colour, 0, "colour", &(const char *){NULL}, "COLOUR", ".a colour"),
	OPT_OPERANDS(NULL),
};

static const struct option_usage face = {
	"hvtrace do [OPTION]... DOMAIN [FILE]...\n"
	"       hvtrace do --flag DIRECTORY",
	"About do.",
	"hvtrace do -x\nhvtrace do -g a",
};

static char *printed(const char *form)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	if (form)
		option_form_find(form)->command(out, "hvtrace do", faces, &face);
	else
		options_print(out, faces, &face);
	fclose(out);
	return text;
}

static void has(const char *form, const char *const *lines)
{
	char *text = printed(form);

	for (; *lines; lines++)
		if (!strstr(text, *lines))
			fail_msg("%s is not in %s", *lines, text);
	free(text);
}

#define HAS(form, ...) has(form, (const char *const[]){__VA_ARGS__, NULL})

static const char wrapped[] = "  -f, --file FILE           " SEVENTY "\n"
			      "                            as it is long\n";

static void help_has_a_line_for_each_row(void **state)
{
	char *text = printed(NULL);

	(void)state;
	for (const char *line = text; *line; line += strcspn(line, "\n") + 1)
		assert_true(strcspn(line, "\n") <= 100);
	free(text);
	HAS(NULL, "usage: hvtrace do [OPTION]...", "  -x, --flag ", "      --number N ", wrapped,
	    "-h, --help", "\nexamples:\n  $ hvtrace do -x\n  $ hvtrace do -g a\n");
}

/* An option that the synopsis names itself is not there twice. */
static void manual_has_synopsis_and_options(void **state)
{
	char *text = printed("man");

	(void)state;
	assert_null(strstr(text, ".Op Fl x"));
	free(text);
	HAS("man", "@SYNOPSIS@\n.Nm hvtrace do\n.Op Fl Fl number Ar N\n.Op Fl f Ar FILE\n",
	    ".Ar DOMAIN\n.Op Ar FILE ...\n.Nm hvtrace do\n.Fl Fl flag\n.Ar DIRECTORY\n@OPTIONS@\n",
	    ".It Fl x , Fl Fl flag\na [flag]: isn't it\n",
	    ".It Fl Fl colour Ar COLOUR\n\\&.a colour\n");
}

static void shells_have_values_and_operands(void **state)
{
	(void)state;
	HAS("bash", "\t'do')\n\t\toperands='file'\n\t\toptions=(-x --flag --number -f --file ",
	    "['--number']=''\n", "['--file']='file' ['-f']='file'\n",
	    "['--guest']='guest' ['-g']='guest'\n", "['--colour']='=red green blue'\n");
	HAS("zsh", "'(-x --flag)-x[a \\[flag\\]: isn'\\''t it]'\n", "'*--file=[",
	    "]:FILE:_files'\n", "]:NAME: _hvtrace_ask guest'\n", "]:COLOUR:(red green blue)'\n",
	    "'*:operand:_files'\n");
	HAS("fish", " -s x -l flag -d 'a [flag]: isn\\'t it'\n", " -s f -l file -r -F -d '",
	    " -l guest -r -f -a '(__hvtrace_ask guest)' ", " -l colour -r -f -a 'red green blue' ",
	    "complete -c hvtrace -n '__hvtrace_is do' -F\n");
}

/* --- the other way ------------------------------------------------------------------------------
 */

static void add_word(void *arg, const char *word)
{
	char *to = arg;

	snprintf(to + strlen(to), 256 - strlen(to), "[%s]", word);
}

/* Parsed again they give the same. */
static void words(void **state)
{
	static const char *items[] = {"a b", ""};
	struct values v = {
		.flag = true,
		.string = "it's",
		.list = {items, 2},
		.number = 7,
		.size = UINT64_C(3) << 20,
		.time = 1500,
	};
	const struct option_row rows[] = {
		OPT_FLAG('x', "flag", &v.flag, "a flag"),
		OPT_STRING('s', "string", &v.string, "TEXT", "a string"),
		OPT_LIST('l', "list", &v.list, "ITEM", "an item"),
		OPT_NUMBER(0, "number", &v.number, 1, 100, "N", "a number"),
		OPT_SIZE_MB('m', "memory", &v.size, 1 << 20, UINT64_C(1) << 40, "MB", "a size"),
		OPT_TIME(0, "time", &v.time, "TIME", "a time"),
		OPT_TIME(0, "for", &v.time, "TIME", "the same"),
		OPT_ONE_OF(colour, 0, "colour", &v.colour, "COLOUR", "a colour"),
		OPT_COLOR,
		OPT_END,
	};
	char got[256] = "";

	(void)state;
	assert_int_equal(options_words(rows, add_word, got), 0);
	assert_string_equal(got, "[--flag][--string=it's][--list=a b][--list=][--number=7]"
				 "[--memory=3072K][--time=1500ms]");
	memset(&v, 0, sizeof(v));
	*got = '\0';
	assert_int_equal(options_words(rows, add_word, got), 0);
	assert_string_equal(got, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words),
		cmocka_unit_test(accepts_all_kinds),
		cmocka_unit_test(sizes_have_units),
		cmocka_unit_test(times_have_units),
		cmocka_unit_test(refuses_bad_words),
		cmocka_unit_test(says_what_may_be_meant),
		cmocka_unit_test(names_of_values),
		cmocka_unit_test(help_has_a_line_for_each_row),
		cmocka_unit_test(manual_has_synopsis_and_options),
		cmocka_unit_test(shells_have_values_and_operands),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
