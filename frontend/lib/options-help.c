// SPDX-License-Identifier: GPL-2.0-or-later
/* options-help.c - what --help prints. */
#include "frontend/lib/options.h"

#include <string.h>

enum { WIDTH = 100, COLUMN_MAX = 30 };

/* "-k, --kernel FILE" */
static int print_left(char *buf, size_t size, const struct option_row *row)
{
	char letter[8] = "    ";

	if (row->letter)
		snprintf(letter, sizeof(letter), "-%c, ", row->letter);
	return snprintf(buf, size, "%s--%s%s%s", letter, row->name, row->arg ? " " : "",
			row->arg ? row->arg : "");
}

/* Where the texts begin: behind the longest name, unless that is very long. */
static int text_column(const struct option_row *rows)
{
	char left[64];
	int column = 0;

	for (; rows->name; rows++) {
		int len = print_left(left, sizeof(left), rows) + 3;

		if (len > column && len <= COLUMN_MAX)
			column = len;
	}
	return column > 28 ? column : 28;
}

/* Words of the text, in lines that end before WIDTH and begin at the column. */
static void print_wrapped(FILE *out, const char *text, int column)
{
	int at = column;

	for (size_t len; *text; text += len + (text[len] == ' ')) {
		len = strcspn(text, " ");
		if (at > column && at + 1 + (int)len > WIDTH) {
			fprintf(out, "\n%*s", column, "");
			at = column;
		}
		at += fprintf(out, "%s%.*s", at > column ? " " : "", (int)len, text);
	}
	putc('\n', out);
}

static void print_row(FILE *out, const struct option_row *row, int column)
{
	char left[64];
	int len = print_left(left, sizeof(left), row);

	fprintf(out, "  %-*s ", column - 3, left);
	if (len > column - 3)
		fprintf(out, "\n%*s", column, "");
	print_wrapped(out, row->help, column);
}

static void print_examples(FILE *out, const char *lines)
{
	fprintf(out, "\nexamples:\n");
	for (size_t len; *lines; lines += len + (lines[len] == '\n')) {
		len = strcspn(lines, "\n");
		fprintf(out, "  $ %.*s\n", (int)len, lines);
	}
}

void options_print(FILE *out, const struct option_row *rows, const struct option_usage *usage)
{
	const struct option_row help = {
		.letter = 'h',
		.name = "help",
		.help = "show this",
	};
	int column = text_column(rows);

	fprintf(out, "usage: %s\n\n%s\n\noptions:\n", usage->synopsis, usage->about);
	for (const struct option_row *row = rows; row->name; row++)
		print_row(out, row, column);
	print_row(out, &help, column);
	if (usage->examples)
		print_examples(out, usage->examples);
}
