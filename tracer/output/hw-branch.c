// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * hw-branch.c - prints what the tracer hw-branch-tracer records, without context columns
 * (kernel/trace/trace_hw_branches.c, 2.6.32).
 */
#include "tracer/output/internal.h"

void output_hw_branch_header(struct output *o)
{
	text_puts(o->text, "# CPU#        TO  <-  FROM\n");
}

bool output_hw_branch_event(struct output *o, const struct ring_event *ev)
{
	const struct trace_hw_branch_entry *e = ev->data;

	if (e->ent.type != TRACE_HW_BRANCH || ev->len < sizeof(*e))
		return false;
	text_printf(o->text, "%4u  ", o->cpu);
	output_place(o, e->to);
	text_puts(o->text, "\t  <-  ");
	output_place(o, e->from);
	text_putc(o->text, '\n');
	return true;
}
