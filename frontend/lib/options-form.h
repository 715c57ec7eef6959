/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * options-form.h - what else becomes of a table of options than --help: its part of a manual page,
 * or of what a shell completes. The command that has the table prints it for --help=FORM.
 */
#ifndef HVTRACE_FRONTEND_LIB_OPTIONS_FORM_H
#define HVTRACE_FRONTEND_LIB_OPTIONS_FORM_H

#include "frontend/lib/options.h"

/* A command of the program, as its table has it. */
struct option_command {
	const char *name; /* may have a second word, which makes another command of the first */
	const char *help;
};

struct option_form {
	const char *name;
	/* What comes before all commands; their last row has no name. */
	void (*begin)(FILE *out, const struct option_command *commands);
	/* title: "hvtrace NAME" */
	void (*command)(FILE *out, const char *title, const struct option_row *rows,
			const struct option_usage *usage);
	void (*end)(FILE *out);
};

extern const struct option_form option_form_bash;
extern const struct option_form option_form_fish;
extern const struct option_form option_form_man;
extern const struct option_form option_form_zsh;

/* NULL: there is none of that name. */
const struct option_form *option_form_find(const char *name);
/* Their names, i from 0 on, up to NULL. */
const char *option_form_name(unsigned int i);

/* What completes the value of a row that takes one, or the operands of a table; never NULL. */
const char *option_completes(const struct option_row *row);
const char *option_operands_complete(const struct option_row *rows,
				     const struct option_usage *usage);
/* Whether there can be several operands. */
bool option_operands_repeat(const struct option_usage *usage);
/* The name of the command in a title, behind "hvtrace ". */
const char *option_command_name(const char *title);

#endif
