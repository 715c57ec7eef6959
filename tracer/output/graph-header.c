// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * graph-header.c - prints what a trace file of function_graph begins with
 * (print_graph_headers_flags in kernel/trace/trace_functions_graph.c, 6.1).
 */
#include "tracer/output/internal.h"

/* What stands in the two lines above a column. */
struct column {
	uint32_t option;     /* 0: always */
	unsigned int legend; /* how far it pushes the legend of the context flags to the right */
	const char *name, *below;
};

static const struct column columns[] = {
	{OUTPUT_GRAPH_ABSTIME, 16, "     TIME       ", "      |         "},
	{OUTPUT_GRAPH_RELTIME, 16, "   REL TIME     ", "      |         "},
	{OUTPUT_GRAPH_CPU, 4, " CPU", " |  "},
	{OUTPUT_GRAPH_PROC, 17, "  TASK/PID       ", "   |    |        "},
};

static const struct column duration = {OUTPUT_GRAPH_DURATION, 0, "  DURATION   ", "   |   |      "};
static const char flags_column[] = "||||   ";

enum { NR_COLUMNS = sizeof(columns) / sizeof(columns[0]) };

static bool is_shown(const struct output *o, const struct column *c)
{
	return o->cfg.graph_options & c->option;
}

static void flags_legend(struct output *o)
{
	static const char *const lines[] = {
		"  _-----=> irqs-off        ", " / _----=> need-resched    ",
		"| / _---=> hardirq/softirq ", "|| / _--=> preempt-depth   ",
		"||| /                      ",
	};
	unsigned int width = 0;

	for (size_t i = 0; i < NR_COLUMNS; i++)
		width += is_shown(o, &columns[i]) ? columns[i].legend : 0;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		text_printf(o->text, "#%*s%s\n", (int)width, "", lines[i]);
}

static const char *column_text(const struct column *c, bool below)
{
	return below ? c->below : c->name;
}

static void column_line(struct output *o, bool below)
{
	text_putc(o->text, '#');
	for (size_t i = 0; i < NR_COLUMNS; i++)
		if (is_shown(o, &columns[i]))
			text_puts(o->text, column_text(&columns[i], below));
	if (output_option(o, OUTPUT_LATENCY_FORMAT))
		text_puts(o->text, flags_column);
	if (is_shown(o, &duration))
		text_puts(o->text, column_text(&duration, below));
	text_puts(o->text,
		  below ? "               |   |   |   |\n" : "               FUNCTION CALLS\n");
}

void output_graph_header(struct output *o, uint64_t entries, uint64_t written, bool empty)
{
	if (!output_option(o, OUTPUT_CONTEXT_INFO))
		return;
	if (output_option(o, OUTPUT_LATENCY_FORMAT)) {
		if (empty)
			return;
		output_latency_header(o, entries, written);
		flags_legend(o);
	}
	column_line(o, false);
	column_line(o, true);
}
