// SPDX-License-Identifier: GPL-2.0-or-later
/* options-help.c - what --help prints. */
#include "frontend/lib/options.h"

#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { WIDTH = 100, WIDTH_MIN = 40, NARROW = 60, COLUMN = 28, COLUMN_MAX = 30, COLUMN_NARROW = 8 };

/* Texts are made for WIDTH columns: a terminal that has less gets them in other lines. */
static int terminal_width(void)
{
	struct winsize size;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || !size.ws_col || size.ws_col >= WIDTH)
		return WIDTH;
	return size.ws_col < WIDTH_MIN ? WIDTH_MIN : size.ws_col;
}

/* "-k, --kernel FILE" */
static int print_left(char *buf, size_t size, const struct option_row *row)
{
	char letter[8] = "    ";

	if (row->letter)
		snprintf(letter, sizeof(letter), "-%c, ", row->letter);
	return snprintf(buf, size, "%s--%s%s%s", letter, row->name, row->arg ? " " : "",
			row->arg ? row->arg : "");
}

/* Where the texts begin: behind the longest name, unless that is very long, or below it. */
static int text_column(const struct option_row *rows, int width)
{
	char left[64];
	int column = 0;

	if (width < NARROW)
		return COLUMN_NARROW;
	for (; rows->name; rows++) {
		int len = print_left(left, sizeof(left), rows) + 3;

		if (len > column && len <= COLUMN_MAX)
			column = len;
	}
	return column > COLUMN ? column : COLUMN;
}

/*
 * Words of the text, up to an end of a paragraph, in lines that end before the width; the first one
 * goes on where it is, those below begin at the column. What is behind them.
 */
static const char *print_wrapped(FILE *out, const char *text, int column, int width)
{
	int at = column;

	for (size_t len; *text; text += len + (text[len] != '\0')) {
		len = strcspn(text, " \n");
		if (!len)
			break;
		if (at > column && at + 1 + (int)len > width) {
			fprintf(out, "\n%*s", column, "");
			at = column;
		}
		at += fprintf(out, "%s%.*s", at > column ? " " : "", (int)len, text);
	}
	putc('\n', out);
	return text;
}

/* "  perfetto    for ui.perfetto.dev": its text goes on below itself, as more of it may already. */
static const char *print_item(FILE *out, const char *line, int width)
{
	size_t name = 2 + strcspn(line + 2, " \n"), text = name + strspn(line + name, " ");
	char words[512] = "";

	fprintf(out, "%.*s", (int)text, line);
	line += text;
	for (size_t more = 1; more; line += more) {
		size_t len = strcspn(line, "\n"), used = strlen(words);

		snprintf(words + used, sizeof(words) - used, "%s%.*s", used ? " " : "", (int)len,
			 line);
		line += len + (line[len] == '\n');
		more = strspn(line, " ");
		more = more > 2 ? more : 0;
	}
	print_wrapped(out, words, (int)text, width);
	return line;
}

static void print_about(FILE *out, const char *about, int width)
{
	if (width == WIDTH) {
		fprintf(out, "%s\n", about);
		return;
	}
	while (*about) {
		if (!strncmp(about, "  ", 2)) {
			about = print_item(out, about, width);
		} else if (*about == '\n') {
			putc('\n', out);
			about++;
		} else {
			about = print_wrapped(out, about, 0, width);
		}
	}
}

static void print_row(FILE *out, const struct option_row *row, int column, int width)
{
	char left[64];
	int len = print_left(left, sizeof(left), row);

	if (len > column - 3)
		fprintf(out, "  %s\n%*s", left, column, "");
	else
		fprintf(out, "  %-*s ", column - 3, left);
	print_wrapped(out, row->help, column, width);
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
	int width = terminal_width(), column = text_column(rows, width);

	fprintf(out, "usage: %s\n\n", usage->synopsis);
	print_about(out, usage->about, width);
	fprintf(out, "\noptions:\n");
	for (const struct option_row *row = rows; row->name; row++)
		print_row(out, row, column, width);
	print_row(out, &help, column, width);
	if (usage->examples)
		print_examples(out, usage->examples);
}
