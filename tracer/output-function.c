// SPDX-License-Identifier: GPL-2.0-or-later
/* output-function.c - prints function entries (trace_fn_* of kernel/trace/trace_output.c, 6.1). */
#include "tracer/output-internal.h"

#include <inttypes.h>

static const struct trace_function_entry *function_of(const struct trace_entry *ent)
{
	return (const struct trace_function_entry *)ent;
}

static void function_trace(struct output *o, const struct trace_entry *ent)
{
	const struct trace_function_entry *e = function_of(ent);

	output_symbol(o, e->ip);
	if (output_option(o, OUTPUT_PRINT_PARENT) && e->parent_ip) {
		text_puts(o->text, " <-");
		output_symbol(o, e->parent_ip);
	}
	text_putc(o->text, '\n');
}

static void function_raw(struct output *o, const struct trace_entry *ent)
{
	const struct trace_function_entry *e = function_of(ent);

	text_printf(o->text, "%" PRIx64 " %" PRIx64 "\n", e->ip, e->parent_ip);
}

static void function_hex(struct output *o, const struct trace_entry *ent)
{
	const struct trace_function_entry *e = function_of(ent);

	output_hex(o, e->ip, sizeof(e->ip));
	output_hex(o, e->parent_ip, sizeof(e->parent_ip));
	text_putc(o->text, '\n');
}

const struct entry_ops function_entry_ops = {
	.type = TRACE_FN,
	.len = sizeof(struct trace_function_entry),
	.trace = function_trace,
	.raw = function_raw,
	.hex = function_hex,
};
