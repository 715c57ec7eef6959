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
	const char *name;
	const char *help;
	const char *second; /* a word behind the name that makes it another command, or NULL */
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

extern const struct option_form option_form_man;

/* NULL: there is none of that name. */
const struct option_form *option_form_find(const char *name);
/* Their names, i from 0 on, up to NULL. */
const char *option_form_name(unsigned int i);

#endif
