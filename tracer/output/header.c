// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * header.c - prints what a trace file begins with (trace_default_header in
 * kernel/trace/trace.c, 6.1).
 */
#include "tracer/output/internal.h"

#include <inttypes.h>

static void latency_legend(struct output *o)
{
	text_puts(o->text, "#                    _------=> CPU#            \n"
			   "#                   / _-----=> irqs-off/BH-disabled\n"
			   "#                  | / _----=> need-resched    \n"
			   "#                  || / _---=> hardirq/softirq \n"
			   "#                  ||| / _--=> preempt-depth   \n"
			   "#                  |||| / _-=> migrate-disable \n"
			   "#                  ||||| /     delay           \n"
			   "#  cmd     pid     |||||| time  |   caller     \n"
			   "#     \\   /        ||||||  \\    |    /       \n");
}

/* The legend of the context flags stands ten columns further right behind a TGID column. */
static void irq_legend(struct output *o, bool tgid)
{
	static const char *const lines[] = {
		"  _-----=> irqs-off/BH-disabled", " / _----=> need-resched",
		"| / _---=> hardirq/softirq",	   "|| / _--=> preempt-depth",
		"||| / _-=> migrate-disable",	   "|||| /     delay",
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		text_printf(o->text, "#%*s%s\n", tgid ? 40 : 30, "", lines[i]);
	text_printf(o->text, "#           TASK-PID  %s CPU#  |||||  TIMESTAMP  FUNCTION\n",
		    tgid ? "     TGID   " : "  ");
	text_printf(o->text, "#              | |    %s   |   |||||     |         |\n",
		    tgid ? "       |    " : "  ");
}

static void plain_legend(struct output *o, bool tgid)
{
	text_printf(o->text, "#           TASK-PID    %s CPU#     TIMESTAMP  FUNCTION\n",
		    tgid ? "   TGID   " : "");
	text_printf(o->text, "#              | |      %s   |         |         |\n",
		    tgid ? "     |    " : "");
}

static void normal_header(struct output *o, uint64_t entries, uint64_t written)
{
	bool tgid = output_option(o, OUTPUT_RECORD_TGID);

	text_printf(o->text,
		    "# entries-in-buffer/entries-written: %" PRIu64 "/%" PRIu64 "   #P:%u\n"
		    "#\n",
		    entries, written, o->cfg.cpus);
	if (output_option(o, OUTPUT_IRQ_INFO))
		irq_legend(o, tgid);
	else
		plain_legend(o, tgid);
}

void output_header(struct output *o, uint64_t entries, uint64_t written, bool empty)
{
	bool verbose = output_option(o, OUTPUT_VERBOSE);

	o->overrun = written > entries;
	text_printf(o->text, "# tracer: %s\n#\n", o->cfg.tracer);
	if (empty && o->cfg.help) {
		text_puts(o->text, o->cfg.help);
		return;
	}
	if (o->is_graph) {
		output_graph_header(o, entries, written, empty);
		return;
	}
	if (o->is_blk) {
		output_blk_header(o);
		return;
	}
	if (o->is_hw_branch) {
		output_hw_branch_header(o);
		return;
	}
	if (o->is_branch) {
		output_branch_header(o);
		return;
	}
	if (!output_option(o, OUTPUT_CONTEXT_INFO))
		return;
	if (!output_option(o, OUTPUT_LATENCY_FORMAT)) {
		if (!verbose)
			normal_header(o, entries, written);
		return;
	}
	if (empty)
		return;
	output_latency_header(o, entries, written);
	if (!verbose)
		latency_legend(o);
}
