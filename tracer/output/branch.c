// SPDX-License-Identifier: GPL-2.0-or-later
/* branch.c - prints likely() and unlikely() as they have come out
 * (kernel/trace/trace_branch.c, 6.1). */
#include "tracer/output/internal.h"

#include <inttypes.h>

void output_branch_header(struct output *o)
{
	text_puts(o->text, "#           TASK-PID    CPU#    TIMESTAMP  CORRECT  FUNC:FILE:LINE\n"
			   "#              | |       |          |         |       |\n");
}

static void print_branch(struct output *o, const struct ring_event *ev)
{
	const struct trace_branch_entry *e = ev->data;

	text_printf(o->text, "[%s] %.*s:%.*s:%" PRId32 "\n", e->correct ? "  ok  " : " MISS ",
		    BRANCH_FUNC_MAX, e->func, BRANCH_FILE_MAX, e->file, (int32_t)e->line);
}

const struct entry_ops branch_entry_ops = {
	.len = sizeof(struct trace_branch_entry),
	.trace = print_branch,
};
