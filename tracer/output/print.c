// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * print.c - prints text that was put into the trace: trace_marker, trace_marker_raw,
 * trace_printk(), trace_puts() (kernel/trace/trace_output.c, 6.1).
 */
#include "tracer/output/internal.h"

#include <inttypes.h>
#include <stdio.h>

/* --- TRACE_PRINT -------------------------------------------------------------------------- */

static void print_msg(struct output *o, const struct ring_event *ev)
{
	const struct trace_print_entry *e = ev->data;

	text_add(o->text, e->buf, strnlen(e->buf, ev->len - sizeof(*e)));
}

static void print_trace(struct output *o, const struct ring_event *ev)
{
	const struct trace_print_entry *e = ev->data;

	output_address(o, e->ip);
	text_puts(o->text, ": ");
	print_msg(o, ev);
}

static void print_raw(struct output *o, const struct ring_event *ev)
{
	const struct trace_print_entry *e = ev->data;

	text_printf(o->text, "# %" PRIx64 " ", e->ip);
	print_msg(o, ev);
}

const struct entry_ops print_entry_ops = {
	.len = sizeof(struct trace_print_entry),
	.trace = print_trace,
	.raw = print_raw,
	.msg_only = print_msg,
};

/* --- TRACE_BPUTS, TRACE_BPRINT ------------------------------------------------------------ */

/* A string of the guest's; its address when it cannot be read. */
static const char *guest_string(struct output *o, uint64_t addr, char *buf, size_t len)
{
	const char *s = o->cfg.string ? o->cfg.string(o->cfg.arg, addr) : NULL;

	if (s)
		return s;
	snprintf(buf, len, "(0x%016" PRIx64 ")\n", addr);
	return buf;
}

static void bputs_msg(struct output *o, const struct ring_event *ev)
{
	const struct trace_bputs_entry *e = ev->data;
	char buf[32];

	text_puts(o->text, guest_string(o, e->str, buf, sizeof(buf)));
}

static void bputs_trace(struct output *o, const struct ring_event *ev)
{
	const struct trace_bputs_entry *e = ev->data;

	output_address(o, e->ip);
	text_puts(o->text, ": ");
	bputs_msg(o, ev);
}

static void bputs_raw(struct output *o, const struct ring_event *ev)
{
	const struct trace_bputs_entry *e = ev->data;

	text_printf(o->text, ": %" PRIx64 " : ", e->ip);
	bputs_msg(o, ev);
}

const struct entry_ops bputs_entry_ops = {
	.len = sizeof(struct trace_bputs_entry),
	.trace = bputs_trace,
	.raw = bputs_raw,
	.msg_only = bputs_msg,
};

static void bprint_msg(struct output *o, const struct ring_event *ev)
{
	const struct trace_bprint_entry *e = ev->data;
	char buf[32];

	output_bprintf(o, guest_string(o, e->fmt, buf, sizeof(buf)), e->buf, ev->len - sizeof(*e));
}

static void bprint_trace(struct output *o, const struct ring_event *ev)
{
	const struct trace_bprint_entry *e = ev->data;

	output_address(o, e->ip);
	text_puts(o->text, ": ");
	bprint_msg(o, ev);
}

static void bprint_raw(struct output *o, const struct ring_event *ev)
{
	const struct trace_bprint_entry *e = ev->data;

	text_printf(o->text, ": %" PRIx64 " : ", e->ip);
	bprint_msg(o, ev);
}

const struct entry_ops bprint_entry_ops = {
	.len = sizeof(struct trace_bprint_entry),
	.trace = bprint_trace,
	.raw = bprint_raw,
	.msg_only = bprint_msg,
};

/* --- TRACE_RAW_DATA ----------------------------------------------------------------------- */

static void raw_data_trace(struct output *o, const struct ring_event *ev)
{
	const struct trace_raw_data_entry *e = ev->data;
	size_t nr = ev->len - sizeof(*e);
	char *at;

	text_printf(o->text, "# %x buf:", e->id);
	at = text_begin(o->text, nr * 3 + 1);
	if (!at)
		return;
	for (size_t i = 0; i < nr; i++) {
		*at++ = ' ';
		at = text_put_hex(at, e->buf[i], 2);
	}
	*at++ = '\n';
	text_end(o->text, at);
}

const struct entry_ops raw_data_entry_ops = {
	.len = sizeof(struct trace_raw_data_entry),
	.trace = raw_data_trace,
	.raw = raw_data_trace,
};
