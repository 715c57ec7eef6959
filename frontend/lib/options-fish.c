// SPDX-License-Identifier: GPL-2.0-or-later
/* options-fish.c - the table in frontend/shells/hvtrace.fish: a line for each option. */
#include "frontend/lib/options-form.h"

#include <string.h>

/* Within quotes. */
static void print_text(FILE *out, const char *text)
{
	for (; *text; text++) {
		if (strchr("\\'", *text))
			putc('\\', out);
		putc(*text, out);
	}
}

static void print_name(FILE *out, const struct option_command *command)
{
	fprintf(out, " \\\n        '%s' '", command->name);
	print_text(out, command->help);
	putc('\'', out);
}

static void fish_begin(FILE *out, const struct option_command *command)
{
	fputs("@TABLE@\nfunction __hvtrace_commands\n    printf '%s\\t%s\\n'", out);
	for (; command->name; command++)
		print_name(out, command);
	fputs("\nend\n\n", out);
}

static void print_kind(FILE *out, const char *kind)
{
	if (!strcmp(kind, COMPLETE_FILE))
		fputs(" -F", out);
	else if (!strcmp(kind, COMPLETE_DIRECTORY))
		fputs(" -f -a '(__fish_complete_directories)'", out);
	else if (!strcmp(kind, COMPLETE_DOMAIN_OR_FILE))
		fputs(" -F -a '(__hvtrace_ask domain)'", out);
	else if (*kind)
		fprintf(out, " -f -a '(__hvtrace_ask %s)'", kind);
	else
		fputs(" -f", out);
}

static void print_value(FILE *out, const struct option_row *row)
{
	const char *name;

	fputs(" -r", out);
	if (!row->names) {
		print_kind(out, option_completes(row));
		return;
	}
	for (unsigned int i = 0; (name = row->names(i)); i++)
		fprintf(out, "%s%s", i ? " " : " -f -a '", name);
	putc('\'', out);
}

static void print_row(FILE *out, const char *command, const struct option_row *row)
{
	fprintf(out, "complete -c hvtrace -n '__hvtrace_is %s'", command);
	if (row->letter)
		fprintf(out, " -s %c", row->letter);
	fprintf(out, " -l %s", row->name);
	if (row->arg)
		print_value(out, row);
	fputs(" -d '", out);
	print_text(out, row->help);
	fputs("'\n", out);
}

static void fish_command(FILE *out, const char *title, const struct option_row *rows,
			 const struct option_usage *usage)
{
	const struct option_row help = {.letter = 'h', .name = "help", .help = "show help"};
	const char *command = option_command_name(title);

	for (const struct option_row *row = rows; row->name; row++)
		print_row(out, command, row);
	print_row(out, command, &help);
	fprintf(out, "complete -c hvtrace -n '__hvtrace_is %s'", command);
	print_kind(out, option_operands_complete(rows, usage));
	fputs("\n", out);
}

static void fish_end(FILE *out)
{
	(void)out;
}

const struct option_form option_form_fish = {"fish", fish_begin, fish_command, fish_end};
