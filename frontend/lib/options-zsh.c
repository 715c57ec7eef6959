// SPDX-License-Identifier: GPL-2.0-or-later
/* options-zsh.c - the table in frontend/shells/_hvtrace: what _arguments takes. */
#include "frontend/lib/options-form.h"

#include <string.h>

/* Within quotes, with a backslash before what would end it. */
static void print_text(FILE *out, const char *text, const char *special)
{
	for (; *text; text++) {
		if (*text == '\'') {
			fputs("'\\''", out);
			continue;
		}
		if (strchr(special, *text))
			putc('\\', out);
		putc(*text, out);
	}
}

static void print_name(FILE *out, const struct option_command *command)
{
	fprintf(out, "\n\t'%s:", command->name);
	print_text(out, command->help, "\\:");
	putc('\'', out);
}

static void zsh_begin(FILE *out, const struct option_command *command)
{
	fputs("@TABLE@\ntypeset -ga _hvtrace_commands\n_hvtrace_commands=(", out);
	for (; command->name; command++)
		print_name(out, command);
	fputs("\n)\n\n_hvtrace_table() # COMMAND\n{\n\tcase $1 in\n", out);
}

/* What completes a value: an action of _arguments. */
static void print_action(FILE *out, const char *kind)
{
	if (!strcmp(kind, COMPLETE_FILE))
		fputs("_files", out);
	else if (!strcmp(kind, COMPLETE_DIRECTORY))
		fputs("_files -/", out);
	else if (!strcmp(kind, COMPLETE_DOMAIN_OR_FILE))
		fputs(" _hvtrace_domain_or_file", out);
	else if (*kind)
		fprintf(out, " _hvtrace_ask %s", kind);
	else
		putc(' ', out);
}

static void print_value(FILE *out, const struct option_row *row)
{
	const char *name;

	fprintf(out, ":%s:", row->arg);
	if (!row->names) {
		print_action(out, option_completes(row));
		return;
	}
	for (unsigned int i = 0; (name = row->names(i)); i++)
		fprintf(out, "%c%s", i ? ' ' : '(', name);
	putc(')', out);
}

/* One of the two names of an option, which excludes the other unless it may be repeated. */
static void print_spec(FILE *out, const struct option_row *row, const char *name)
{
	fputs("\t\t\t'", out);
	if (row->kind == OPTION_LIST)
		putc('*', out);
	else if (row->letter)
		fprintf(out, "(-%c --%s)", row->letter, row->name);
	fputs(name, out);
	if (row->arg)
		putc(name[1] == '-' ? '=' : '+', out);
	putc('[', out);
	print_text(out, row->help, "\\[]");
	putc(']', out);
	if (row->arg)
		print_value(out, row);
	fputs("'\n", out);
}

static void zsh_command(FILE *out, const char *title, const struct option_row *rows,
			const struct option_usage *usage)
{
	const char *operands = option_operands_complete(rows, usage);
	char name[64];

	fprintf(out, "\t'%s')\n\t\tspecs=(\n", option_command_name(title));
	for (; rows->name; rows++) {
		if (rows->letter) {
			snprintf(name, sizeof(name), "-%c", rows->letter);
			print_spec(out, rows, name);
		}
		snprintf(name, sizeof(name), "--%s", rows->name);
		print_spec(out, rows, name);
	}
	fputs("\t\t\t'(- *)-h[show help]'\n\t\t\t'(- *)--help[show help]'\n", out);
	if (*operands) {
		fprintf(out, "\t\t\t'%s:operand:", option_operands_repeat(usage) ? "*" : "1");
		print_action(out, operands);
		fputs("'\n", out);
	}
	fputs("\t\t)\n\t\t;;\n", out);
}

static void zsh_end(FILE *out)
{
	fputs("\tesac\n}\n", out);
}

const struct option_form option_form_zsh = {"zsh", zsh_begin, zsh_command, zsh_end};
