// SPDX-License-Identifier: GPL-2.0-or-later
/* options-bash.c - the table in frontend/shells/hvtrace.bash. */
#include "frontend/lib/options-form.h"

static void bash_begin(FILE *out, const struct option_command *command)
{
	fputs("@TABLE@\n_hvtrace_commands=(", out);
	for (; command->name; command++)
		fprintf(out, "\n\t'%s'", command->name);
	fputs("\n)\n\n_hvtrace_table() # COMMAND\n{\n\tcase $1 in\n", out);
}

/* "=a b c" where there are no other values. */
static void print_kind(FILE *out, const struct option_row *row)
{
	const char *name;

	if (!row->names) {
		fputs(option_completes(row), out);
		return;
	}
	for (unsigned int i = 0; (name = row->names(i)); i++)
		fprintf(out, "%c%s", i ? ' ' : '=', name);
}

static void print_kinds(FILE *out, const struct option_row *rows)
{
	fputs("\t\tkinds=(", out);
	for (; rows->name; rows++) {
		if (!rows->arg)
			continue;
		fprintf(out, "\n\t\t\t['--%s']='", rows->name);
		print_kind(out, rows);
		putc('\'', out);
		if (!rows->letter)
			continue;
		fprintf(out, " ['-%c']='", rows->letter);
		print_kind(out, rows);
		putc('\'', out);
	}
	fputs("\n\t\t)\n", out);
}

static void bash_command(FILE *out, const char *title, const struct option_row *rows,
			 const struct option_usage *usage)
{
	fprintf(out, "\t'%s')\n\t\toperands='%s'\n\t\toptions=(", option_command_name(title),
		option_operands_complete(rows, usage));
	for (const struct option_row *row = rows; row->name; row++) {
		if (row->letter)
			fprintf(out, "-%c ", row->letter);
		fprintf(out, "--%s ", row->name);
	}
	fputs("-h --help)\n", out);
	print_kinds(out, rows);
	fputs("\t\t;;\n", out);
}

static void bash_end(FILE *out)
{
	fputs("\tesac\n}\n", out);
}

const struct option_form option_form_bash = {"bash", bash_begin, bash_command, bash_end};
