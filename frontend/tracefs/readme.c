// SPDX-License-Identifier: GPL-2.0-or-later
/* readme.c - README: what all tables say of their rows. */
#include "frontend/tracefs/internal.h"
#include "tracer/tracer.h"

#include <stdio.h>
#include <string.h>

#define WIDTH 90 /* of a line */
#define WHAT  36 /* where it says what a file is for */

static const char head[] =
	"The kernel of a guest, traced from outside. Files are named and behave as those of\n"
	"/sys/kernel/tracing in Linux 6.1; what is not listed here is not offered.\n"
	"N stands for a vCPU, SYSTEM, EVENT and NAME for those that there are.\n";

static const char instances[] = "  instances/                        mkdir makes one with buffers, "
				"filters, options and a\n"
				"                                    tracer of its own; rmdir "
				"removes it\n";

/* Its placeholders as a reader knows them. Returns how long that is. */
static size_t put_path(struct text *out, const char *path)
{
	static const struct {
		const char *from, *to;
	} names[] = {{"%system", "SYSTEM"}, {"%event", "EVENT"}, {"%d", "N"}, {"%s", "NAME"}};
	size_t begin = out->len;

	while (*path) {
		size_t skip = 0;

		for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && !skip; i++) {
			if (strncmp(path, names[i].from, strlen(names[i].from)) != 0)
				continue;
			skip = strlen(names[i].from);
			text_puts(out, names[i].to);
		}
		if (!skip)
			text_putc(out, *path);
		path += skip ? skip : 1;
	}
	return out->len - begin;
}

/* Lines, each from that column on; the first goes on where `at` columns are taken. */
static void put_lines(struct text *out, const char *lines, size_t at)
{
	do {
		size_t len = strcspn(lines, "\n");

		if (at >= WHAT) {
			text_putc(out, '\n');
			at = 0;
		}
		text_printf(out, "%*s%.*s\n", (int)(WHAT - at), "", (int)len, lines);
		lines += len + (lines[len] == '\n');
		at = 0;
	} while (*lines);
}

static void put_entry(struct text *out, const char *name, const char *what)
{
	text_puts(out, "  ");
	put_lines(out, what, 2 + put_path(out, name));
}

static void put_tables(struct text *out)
{
	const struct tracefs_table *table;

	for (unsigned int i = 0; (table = tracefs_table(i)); i++) {
		text_printf(out, "\n%s\n", table->title);
		for (size_t k = 0; k < table->nr; k++)
			if (table->row[k].what)
				put_entry(out, table->row[k].path, table->row[k].what);
	}
}

/* --- what their files take ------------------------------------------------------------------- */

static void put_tracers(struct open_file *f, struct text *out)
{
	const char *name, *desc;

	text_puts(out, "\nTracers\n");
	for (unsigned int i = 0; (name = trace_tracer_name(i, &desc)); i++)
		if (trace_has_tracer(f->trace, name))
			put_entry(out, name, desc);
}

static void put_clocks(struct text *out)
{
	const char *name, *desc;

	text_puts(out, "\nClocks\n");
	for (unsigned int i = 0; (name = trace_clock_name(i, &desc)); i++)
		put_entry(out, name, desc);
}

/* Names, as many in a line as fit. */
struct names {
	struct text *out;
	size_t column;
};

static void put_name(struct names *n, const char *name)
{
	size_t len = strlen(name) + 1;
	bool fits = n->column && n->column + len <= WIDTH;

	text_printf(n->out, "%s%s", fits ? " " : "\n    ", name);
	n->column = fits ? n->column + len : 4 + len;
}

static void put_options(struct text *out, const char *title, const struct output_options *options)
{
	struct names names = {.out = out};

	if (!options->nr)
		return;
	text_printf(out, "\n%s", title);
	for (size_t i = 0; i < options->nr; i++)
		put_name(&names, options->row[i].name);
	text_putc(out, '\n');
}

static void put_tracers_options(struct text *out)
{
	const char *name;

	put_options(out, "Options of all tracers", trace_option_rows());
	for (unsigned int i = 0; (name = trace_tracer_name(i, NULL)); i++) {
		char title[64];

		snprintf(title, sizeof(title), "Options of %s", name);
		put_options(out, title, tracer_option_rows(name));
	}
}

static void put_commands(struct text *out)
{
	const char *name, *syntax, *desc;
	char line[64];

	text_puts(out, "\nCommands on functions: FUNCTION:COMMAND[:COUNT], written to "
		       "set_ftrace_filter\n");
	for (unsigned int i = 0; (name = trace_function_command(i, &desc)); i++)
		put_entry(out, name, desc);
	text_puts(out, "\nTriggers of events\n");
	for (unsigned int i = 0; (name = trace_event_command(i, &syntax, &desc)); i++) {
		snprintf(line, sizeof(line), "%s%s", name, syntax);
		put_entry(out, line, desc);
	}
}

static void put_dynamic(struct text *out)
{
	struct names names = {.out = out};
	const char *text;

	text_puts(out, "\nEvents that are defined\n");
	for (unsigned int i = 0; (text = trace_dynamic_syntax(i)); i++)
		text_printf(out, "%s\n", text);
	text_puts(out, "    TYPE, or TYPE[N], or bWIDTH@OFFSET/SIZE:");
	for (unsigned int i = 0; (text = trace_fetch_type(i)); i++)
		put_name(&names, text);
	text_putc(out, '\n');
}

void tracefs_readme(struct open_file *f, struct text *out)
{
	text_puts(out, head);
	put_tables(out);
	text_printf(out, "\nInstances\n%s", instances);
	put_tracers(f, out);
	put_clocks(out);
	put_tracers_options(out);
	put_commands(out);
	put_dynamic(out);
}
