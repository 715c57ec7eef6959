// SPDX-License-Identifier: GPL-2.0-or-later
/* options.c - parses and prints tables of command-line options, on top of getopt_long(3). */
#include "frontend/lib/options.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ROWS = 48, LONG_BASE = 256, HELP = LONG_BASE + MAX_ROWS };

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
	f->longs[n] = (struct option){"help", no_argument, NULL, HELP};
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

static int number_set(const struct option_row *row, const char *text)
{
	uint64_t unit = row->kind == OPTION_SIZE_MB ? UINT64_C(1) << 20 : 1;
	unsigned long long n;
	char why[96];
	char *end;

	errno = 0;
	n = strtoull(text, &end, 10);
	if (!isdigit((unsigned char)text[0]) || errno)
		return bad_value(row, text, "not a number");
	if (row->kind == OPTION_SIZE_MB && *end) {
		const char *units = "KMG", *u = strchr(units, toupper((unsigned char)*end));

		if (u) {
			unit = UINT64_C(1) << (10 * (u - units + 1));
			end++;
		}
	}
	if (*end)
		return bad_value(row, text, "not a number");
	if (n > UINT64_MAX / unit || n * unit < row->min || n * unit > row->max) {
		uint64_t shown = row->kind == OPTION_SIZE_MB ? UINT64_C(1) << 20 : 1;

		snprintf(why, sizeof(why), "not between %" PRIu64 " and %" PRIu64 "%s",
			 row->min / shown, row->max / shown,
			 row->kind == OPTION_SIZE_MB ? " MB" : "");
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
		if (!(ms >= (double)row->min && ms <= (double)row->max))
			return bad_value(row, text, "too short or too long a time");
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

static int row_set(const struct option_row *row, const char *text)
{
	switch (row->kind) {
	case OPTION_FLAG:
		*(bool *)row->value = true;
		return 0;
	case OPTION_STRING:
		*(const char **)row->value = text;
		return 0;
	case OPTION_LIST:
		return list_add(row->value, text);
	case OPTION_NUMBER:
	case OPTION_SIZE_MB:
		return number_set(row, text);
	case OPTION_TIME:
		return time_set(row, text);
	}
	return OPTIONS_BAD;
}

int options_parse(int argc, char **argv, const struct option_row *rows,
		  const struct option_usage *usage)
{
	size_t n = rows_count(rows);
	struct getopt_forms forms = {0};
	int c;

	forms_fill(&forms, rows, n);
	optind = 0;
	opterr = 0;
	while ((c = getopt_long(argc, argv, forms.letters, forms.longs, NULL)) != -1) {
		const struct option_row *row;

		if (c == HELP || c == 'h') {
			options_print(stdout, rows, usage);
			return OPTIONS_HELP;
		}
		row = c == '?' ? NULL : row_find(rows, n, c);
		if (!row) {
			const char *word = optind > 0 ? argv[optind - 1] : "?";
			const struct option_row *known = optopt ? row_find(rows, n, optopt) : NULL;

			fprintf(stderr, "hvtrace: %s %s (%s --help lists the options)\n",
				known ? "an argument is missing after" : "no such option:", word,
				argv[0]);
			return OPTIONS_BAD;
		}
		if (row_set(row, optarg))
			return OPTIONS_BAD;
	}
	return optind;
}

bool option_is_one_of(const char *option, const char *value, const char *(*name)(unsigned int i))
{
	const char *known;

	for (unsigned int i = 0; (known = name(i)); i++)
		if (!strcmp(value, known))
			return true;
	fprintf(stderr, "hvtrace: --%s %s: there are ", option, value);
	for (unsigned int i = 0; (known = name(i)); i++)
		fprintf(stderr, "%s%s", i ? ", " : "", known);
	fprintf(stderr, "\n");
	return false;
}

void options_print(FILE *out, const struct option_row *rows, const struct option_usage *usage)
{
	fprintf(out, "usage: %s\n\n%s\n\noptions:\n", usage->synopsis, usage->about);
	for (const struct option_row *row = rows; row->name; row++) {
		char left[48];
		char letter[8] = "    ";

		if (row->letter)
			snprintf(letter, sizeof(letter), "-%c, ", row->letter);
		snprintf(left, sizeof(left), "%s--%s%s%s", letter, row->name, row->arg ? " " : "",
			 row->arg ? row->arg : "");
		fprintf(out, "  %-26s %s\n", left, row->help);
	}
	fprintf(out, "  -h, --help                 show this\n");
}

void option_list_free(struct option_list *list)
{
	free(list->values);
	*list = (struct option_list){NULL, 0};
}
