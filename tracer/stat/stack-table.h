/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stack-table.h - a stack, and what each function has of it: the file stack_trace.
 *
 * Knows nothing of a trace.
 */
#ifndef HVTRACE_TRACER_STAT_STACK_TABLE_H
#define HVTRACE_TRACER_STAT_STACK_TABLE_H

#include <stdint.h>

#include "tracer/lib/text.h"
#include "tracer/output/output.h"

#define STACK_TABLE_MAX 499 /* STACK_TRACE_ENTRIES, less one that ends the list there */

struct stack_table {
	unsigned int nr;
	uint64_t ip[STACK_TABLE_MAX];	 /* innermost first */
	uint32_t depth[STACK_TABLE_MAX]; /* from the stack's end to where its return address is */
};

/*
 * What unwind_entry() gave for the stack that ends at top: the addresses in ip already, n of them,
 * and the stack pointers at them. What is not on that stack, or not further out than the one before
 * it, ends the table.
 */
void stack_table_fill(struct stack_table *s, const uint64_t *sps, unsigned int n, uint64_t top);

/* Its text; `disabled`: say how stacks come here. */
void stack_table_print(const struct stack_table *s, bool disabled, const struct output_config *cfg,
		       struct text *out);

#endif
