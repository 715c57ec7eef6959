// SPDX-License-Identifier: GPL-2.0-or-later
/* options.c - parses tables of command-line options, on top of getopt_long(3). */
#include "frontend/lib/options.h"
#include "frontend/lib/options-form.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/lib/color.h"
#include "tracer/tracer.h"

enum { MAX_ROWS = 96, LONG_BASE = 256, HELP = LONG_BASE + MAX_ROWS };

static size_t rows_count(const struct option_row *rows)
{
	size_t n = 0;

	while (rows[n].name)
		n++;
	return n;
}

/* getopt's own forms of the table: "k:i:c" and an array of struct option. */
struct getopt_forms {
	char letters[2 * MAX_ROWS + 3];
	struct option longs[MAX_ROWS + 2];
};

static void forms_fill(struct getopt_forms *f, const struct option_row *rows, size_t n)
{
	char *p = f->letters;

	for (size_t i = 0; i < n; i++) {
		int has_arg = rows[i].arg ? required_argument : no_argument;

		f->longs[i] = (struct option){rows[i].name, has_arg, NULL, LONG_BASE + (int)i};
		if (!rows[i].letter)
			continue;
		*p++ = rows[i].letter;
		if (has_arg)
			*p++ = ':';
	}
	f->longs[n] = (struct option){"help", optional_argument, NULL, HELP};
	f->longs[n + 1] = (struct option){NULL, 0, NULL, 0};
	*p++ = 'h';
	*p = '\0';
}

static const struct option_row *row_find(const struct option_row *rows, size_t n, int c)
{
	if (c >= LONG_BASE)
		return &rows[c - LONG_BASE];
	for (size_t i = 0; i < n; i++)
		if (rows[i].letter == c)
			return &rows[i];
	return NULL;
}

static int bad_value(const struct option_row *row, const char *text, const char *why)
{
	fprintf(stderr, "hvtrace: --%s %s: %s\n", row->name, text, why);
	return OPTIONS_BAD;
}

/* Of a number without one. */
static uint64_t unit_of(const struct option_row *row)
{
	return row->kind == OPTION_SIZE_MB   ? UINT64_C(1) << 20
	       : row->kind == OPTION_SIZE_KB ? UINT64_C(1) << 10
					     : 1;
}

static int number_set(const struct option_row *row, const char *text)
{
	uint64_t usual = unit_of(row), unit = usual;
	unsigned long long n;
	char why[96];
	char *end;

	errno = 0;
	n = strtoull(text, &end, 10);
	if (!isdigit((unsigned char)text[0]) || errno)
		return bad_value(row, text, "not a number");
	if (usual > 1 && *end) {
		const char *units = "KMG", *u = strchr(units, toupper((unsigned char)*end));

		if (u) {
			unit = UINT64_C(1) << (10 * (u - units + 1));
			end++;
		}
	}
	if (*end)
		return bad_value(row, text, "not a number");
	if (n > UINT64_MAX / unit || n * unit < row->min || n * unit > row->max) {
		snprintf(why, sizeof(why), "not between %" PRIu64 " and %" PRIu64 "%s",
			 row->min / usual, row->max / usual,
			 row->kind == OPTION_SIZE_MB   ? " MB"
			 : row->kind == OPTION_SIZE_KB ? " KB"
						       : "");
		return bad_value(row, text, why);
	}
	*(uint64_t *)row->value = n * unit;
	return 0;
}

static int time_set(const struct option_row *row, const char *text)
{
	static const struct {
		const char *suffix;
		double ms;
	} units[] = {{"", 1000}, {"s", 1000}, {"ms", 1}, {"m", 60000}, {"h", 3600000}};
	char *end;
	double n = strtod(text, &end);

	if (!isdigit((unsigned char)text[0]) || text[1] == 'x')
		return bad_value(row, text, "not a time (such as 5, 1.5s, 200ms, 2m)");
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		double ms = n * units[i].ms;

		if (strcmp(end, units[i].suffix))
			continue;
		if (!(ms >= (double)row->min))
			return bad_value(row, text, "shorter than 1ms");
		if (!(ms <= (double)row->max))
			return bad_value(row, text, "too long a time");
		*(uint64_t *)row->value = (uint64_t)ms;
		return 0;
	}
	return bad_value(row, text, "not a time (such as 5, 1.5s, 200ms, 2m)");
}

static int list_add(struct option_list *list, const char *value)
{
	const char **more = realloc(list->values, (list->nr + 1) * sizeof(*more));

	if (!more) {
		fprintf(stderr, "hvtrace: out of memory\n");
		return OPTIONS_BAD;
	}
	list->values = more;
	list->values[list->nr++] = value;
	return 0;
}

static int color_set(const struct option_row *row, const char *when)
{
	if (!option_is_one_of(row->name, when, color_when))
		return OPTIONS_BAD;
	color_choose(when);
	return 0;
}

static int row_set(const struct option_row *row, const char *text)
{
	switch (row->kind) {
	case OPTION_FLAG:
		*(bool *)row->value = true;
		return 0;
	case OPTION_STRING:
		if (row->names && !option_is_one_of(row->name, text, row->names))
			return OPTIONS_BAD;
		*(const char **)row->value = text;
		return 0;
	case OPTION_LIST:
		return list_add(row->value, text);
	case OPTION_NUMBER:
	case OPTION_SIZE_KB:
	case OPTION_SIZE_MB:
		return number_set(row, text);
	case OPTION_TIME:
		return time_set(row, text);
	case OPTION_COLOR:
		return color_set(row, text);
	}
	return OPTIONS_BAD;
}

/* --- mistakes ----------------------------------------------------------------------------- */

/* "--name" of "--name=value". */
static size_t name_len(const char *word)
{
	return strcspn(word, "=");
}

static int no_such_long(const char *command, const struct option_row *rows, const char *word)
{
	char name[NEAREST_LEN * 2], hint[NEAREST_LEN * 2];
	struct nearest near;

	snprintf(name, sizeof(name), "%.*s", (int)name_len(word + 2), word + 2);
	nearest_begin(&near, name);
	for (; rows->name; rows++)
		nearest_try(&near, rows->name);
	nearest_try(&near, "help");
	fprintf(stderr, "hvtrace: no such option: --%s%s (%s --help lists the options)\n", name,
		nearest_hint(&near, "--", hint, sizeof(hint)), command);
	return OPTIONS_BAD;
}

/* The option that getopt has just come to, whose value may be a word of its own. */
static const char *long_word(char **argv)
{
	return optarg && argv[optind - 1] == optarg ? argv[optind - 2] : argv[optind - 1];
}

/* getopt takes the beginning of a name for the name: what it means changes with each new option. */
static bool is_whole(const char *word, const struct option_row *row)
{
	const char *name = row ? row->name : "help";

	return name_len(word) == strlen(name) + 2 && !strncmp(word + 2, name, strlen(name));
}

/* One that there is, but not so. */
static int misused(const char *command, const struct option_row *row, const char *word)
{
	if (row && row->arg)
		fprintf(stderr, "hvtrace: %s is missing after %s (%s --help)\n", row->arg, word,
			command);
	else
		fprintf(stderr, "hvtrace: %.*s takes no value (%s --help)\n", (int)name_len(word),
			word, command);
	return OPTIONS_BAD;
}

/* What getopt refuses: c is what it takes it for; 0: for nothing. */
static int refuse(char **argv, const struct option_row *rows, int c)
{
	const struct option_row *row = c && c != HELP ? row_find(rows, rows_count(rows), c) : NULL;
	char letter[] = {'-', (char)c, '\0'};

	if (c && c < LONG_BASE) {
		if (row)
			return misused(argv[0], row, letter);
		fprintf(stderr, "hvtrace: no such option: %s (%s --help lists the options)\n",
			letter, argv[0]);
		return OPTIONS_BAD;
	}
	if (!c || !is_whole(argv[optind - 1], row))
		return no_such_long(argv[0], rows, argv[optind - 1]);
	return misused(argv[0], row, argv[optind - 1]);
}

/* --- all of them -------------------------------------------------------------------------- */

/* form: of --help=FORM, or NULL */
static int help(char **argv, const char *form, const struct option_row *rows,
		const struct option_usage *usage)
{
	const struct option_form *other = form ? option_form_find(form) : NULL;

	if (form && !other)
		return misused(argv[0], NULL, argv[optind - 1]);
	if (other)
		other->command(stdout, argv[0], rows, usage);
	else
		options_print(stdout, rows, usage);
	return OPTIONS_HELP;
}

int options_parse(int argc, char **argv, const struct option_row *rows,
		  const struct option_usage *usage)
{
	size_t n = rows_count(rows);
	struct getopt_forms forms = {0};
	int c;

	if (n > MAX_ROWS) /* a mistake that the first run of its command shows */
		abort();
	forms_fill(&forms, rows, n);
	optind = 0;
	opterr = 0;
	while ((c = getopt_long(argc, argv, forms.letters, forms.longs, NULL)) != -1) {
		const struct option_row *row;

		if (c == '?')
			return refuse(argv, rows, optopt);
		row = c == HELP || c == 'h' ? NULL : row_find(rows, n, c);
		if (c >= LONG_BASE && !is_whole(long_word(argv), row))
			return no_such_long(argv[0], rows, long_word(argv));
		if (!row)
			return help(argv, c == HELP ? optarg : NULL, rows, usage);
		if (row_set(row, optarg))
			return OPTIONS_BAD;
	}
	return optind;
}

bool option_is_one_of(const char *option, const char *value, const char *(*name)(unsigned int i))
{
	char hint[NEAREST_LEN * 2];
	struct nearest near;
	const char *known;

	for (unsigned int i = 0; (known = name(i)); i++)
		if (!strcmp(value, known))
			return true;
	nearest_begin(&near, value);
	for (unsigned int i = 0; (known = name(i)); i++)
		nearest_try(&near, known);
	fprintf(stderr, "hvtrace: --%s %s: there are ", option, value);
	for (unsigned int i = 0; (known = name(i)); i++)
		fprintf(stderr, "%s%s", i ? ", " : "", known);
	fprintf(stderr, "%s\n", nearest_hint(&near, "", hint, sizeof(hint)));
	return false;
}

void option_list_free(struct option_list *list)
{
	free(list->values);
	*list = (struct option_list){NULL, 0};
}
