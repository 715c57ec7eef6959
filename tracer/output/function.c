// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * function.c - prints function entries (trace_fn_* and trace_func_repeats_* of
 * kernel/trace/trace_output.c, 6.1).
 */
#include "tracer/output/internal.h"

#include <inttypes.h>

static void print_call(struct output *o, uint64_t ip, uint64_t parent_ip)
{
	output_address(o, ip);
	if (output_option(o, OUTPUT_PRINT_PARENT) && parent_ip) {
		text_add(o->text, " <-", 3);
		output_address(o, parent_ip);
	}
}

static void function_trace(struct output *o, const struct ring_event *ev)
{
	const struct trace_function_entry *e = ev->data;

	print_call(o, e->ip, e->parent_ip);
	text_putc(o->text, '\n');
}

static void function_raw(struct output *o, const struct ring_event *ev)
{
	const struct trace_function_entry *e = ev->data;

	text_printf(o->text, "%" PRIx64 " %" PRIx64 "\n", e->ip, e->parent_ip);
}

static void function_hex(struct output *o, const struct ring_event *ev)
{
	const struct trace_function_entry *e = ev->data;

	output_hex(o, e->ip, sizeof(e->ip));
	output_hex(o, e->parent_ip, sizeof(e->parent_ip));
}

static void function_bin(struct output *o, const struct ring_event *ev)
{
	const struct trace_function_entry *e = ev->data;

	text_add(o->text, &e->ip, sizeof(e->ip));
	text_add(o->text, &e->parent_ip, sizeof(e->parent_ip));
}

const struct entry_ops function_entry_ops = {
	.len = sizeof(struct trace_function_entry),
	.trace = function_trace,
	.raw = function_raw,
	.hex = function_hex,
	.bin = function_bin,
};

static uint64_t repeats_delta(const struct trace_repeats_entry *e)
{
	return (uint64_t)e->top_delta_ts << 32 | e->bottom_delta_ts;
}

static void repeats_trace(struct output *o, const struct ring_event *ev)
{
	const struct trace_repeats_entry *e = ev->data;

	print_call(o, e->ip, e->parent_ip);
	text_printf(o->text, " (repeats: %u, last_ts:", e->count);
	output_time(o, ev->ts - repeats_delta(e));
	text_puts(o->text, ")\n");
}

static void repeats_raw(struct output *o, const struct ring_event *ev)
{
	const struct trace_repeats_entry *e = ev->data;

	text_printf(o->text, "%" PRIu64 " %" PRIu64 " %u %" PRIu64 "\n", e->ip, e->parent_ip,
		    e->count, repeats_delta(e));
}

const struct entry_ops repeats_entry_ops = {
	.len = sizeof(struct trace_repeats_entry),
	.trace = repeats_trace,
	.raw = repeats_raw,
};
