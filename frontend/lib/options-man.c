// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * options-man.c - what scripts/fill-page puts into manual pages: behind a line "@NAME@" what stands
 * for that line, in the language of mdoc(7).
 */
#include "frontend/lib/options-form.h"

#include <ctype.h>
#include <string.h>

/* A line of text, of which nothing is a command to the formatter. */
static void print_text(FILE *out, const char *text)
{
	char before = ' ';

	if (*text == '.' || *text == '\'')
		fputs("\\&", out);
	for (; *text; before = *text++) {
		if (*text == '\\')
			fputs("\\e", out);
		else if (*text == '-' && strchr(" -(", before))
			fputs("\\-", out);
		else
			putc(*text, out);
	}
	putc('\n', out);
}

/* "FILE=VALUE": two arguments. */
static void print_arg(FILE *out, const char *arg)
{
	const char *equals = strchr(arg, '=');

	if (equals)
		fprintf(out, " Ar %.*s Ns = Ns Ar %s", (int)(equals - arg), arg, equals + 1);
	else
		fprintf(out, " Ar %s", arg);
}

static bool is_word_of(const char *line, const char *word)
{
	size_t len = strlen(word);

	for (const char *at = line; (at = strstr(at, word)); at += len)
		if (at[-1] == ' ' && strchr(" \n", at[len]))
			return true;
	return false;
}

/* Those that the line does not name itself. */
static void print_options(FILE *out, const char *synopsis, const struct option_row *row)
{
	char name[64];

	for (; row->name; row++) {
		snprintf(name, sizeof(name), "--%s", row->name);
		if (is_word_of(synopsis, name))
			continue;
		if (row->letter)
			fprintf(out, ".Op Fl %c", row->letter);
		else
			fprintf(out, ".Op Fl Fl %s", row->name);
		if (row->arg)
			print_arg(out, row->arg);
		putc('\n', out);
	}
}

/* A word of a synopsis that is not "[OPTION]...". */
static void print_word(FILE *out, const char *word, size_t len)
{
	const char *more = len > 3 && !strncmp(word + len - 3, "...", 3) ? " ..." : "";

	len -= *more ? 3 : 0;
	if (*word == '[')
		fprintf(out, ".Op Ar %.*s%s\n", (int)len - 2, word + 1, more);
	else if (!strncmp(word, "--", 2))
		fprintf(out, ".Fl Fl %.*s\n", (int)len - 2, word + 2);
	else if (*word == '|')
		fputs("|\n", out);
	else
		fprintf(out, ".Ar %.*s%s\n", (int)len, word, more);
}

/* "hvtrace record run": the words in front that are no operands. */
static size_t print_name(FILE *out, const char *line)
{
	size_t len = 0;

	while (islower((unsigned char)line[len]))
		len += strcspn(line + len, " \n") + 1;
	fprintf(out, ".Nm %.*s\n", (int)len - 1, line);
	return len - 1;
}

static void print_synopsis(FILE *out, const struct option_usage *usage,
			   const struct option_row *rows)
{
	static const char all[] = "[OPTION]...";
	const char *at = usage->synopsis;

	while (*(at += strspn(at, " \n"))) {
		size_t len = strcspn(at, " \n");

		if (!strncmp(at, "hvtrace", len))
			len = print_name(out, at);
		else if (!strncmp(at, all, len))
			print_options(out, usage->synopsis, rows);
		else
			print_word(out, at, len);
		at += len;
	}
}

static void man_command(FILE *out, const char *title, const struct option_row *rows,
			const struct option_usage *usage)
{
	(void)title;
	fputs("@SYNOPSIS@\n", out);
	print_synopsis(out, usage, rows);
	fputs("@OPTIONS@\n", out);
	for (; rows->name; rows++) {
		fputs(".It ", out);
		if (rows->letter)
			fprintf(out, "Fl %c , ", rows->letter);
		fprintf(out, "Fl Fl %s", rows->name);
		if (rows->arg)
			print_arg(out, rows->arg);
		putc('\n', out);
		print_text(out, rows->help);
	}
	fputs(".It Fl h , Fl Fl help\nPrint the options.\n", out);
}

static void man_begin(FILE *out, const struct option_command *command)
{
	fputs("@COMMANDS@\n", out);
	for (; command->name; command++) {
		if (strchr(command->name, ' '))
			fprintf(out, ".It Nm hvtrace %s\n", command->name);
		else
			fprintf(out, ".It Xr hvtrace-%s 1\n", command->name);
		print_text(out, command->help);
	}
}

static void man_end(FILE *out)
{
	(void)out;
}

const struct option_form option_form_man = {"man", man_begin, man_command, man_end};
