// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * mmio.c - prints what the tracer mmiotrace records: lines that mmiotrace's tools read
 * (kernel/trace/trace_mmiotrace.c, 6.1). They have no context columns, whatever the options say.
 */
#include "tracer/output/internal.h"

#include <inttypes.h>

#define USECS 1000000

/* "SECONDS.MICROSECONDS ": whatever the clock is, taken for nanoseconds. */
static void put_usecs(struct output *o, uint64_t ts)
{
	uint64_t us = (ts + 500) / 1000;

	text_printf(o->text, "%u.%06u ", (unsigned int)(us / USECS), (unsigned int)(us % USECS));
}

/* Behind the value: the program counter, and whether user space did it, which never is. */
static void print_rw(struct output *o, const struct ring_event *ev)
{
	const struct trace_mmio_rw_entry *e = ev->data;

	if (e->opcode == MMIO_READ || e->opcode == MMIO_WRITE) {
		text_printf(o->text, "%c %d ", e->opcode == MMIO_READ ? 'R' : 'W', e->width);
		put_usecs(o, ev->ts);
		text_printf(o->text, "%d 0x%" PRIx64 " 0x%" PRIx64 " 0x%" PRIx64 " 0\n", e->map_id,
			    e->phys, e->value, e->pc);
	} else {
		text_puts(o->text, "rw what?\n");
	}
}

static void print_map(struct output *o, const struct ring_event *ev)
{
	const struct trace_mmio_map_entry *e = ev->data;

	if (e->opcode == MMIO_MAP) {
		text_puts(o->text, "MAP ");
		put_usecs(o, ev->ts);
		text_printf(o->text, "%d 0x%" PRIx64 " 0x%" PRIx64 " 0x%" PRIx64 " 0x0 0\n",
			    e->map_id, e->phys, e->virt, e->len);
	} else if (e->opcode == MMIO_UNMAP) {
		text_puts(o->text, "UNMAP ");
		put_usecs(o, ev->ts);
		text_printf(o->text, "%d 0x0 0\n", e->map_id);
	} else {
		text_puts(o->text, "map what?\n");
	}
}

/* What was written to trace_marker, whose line end is its own. */
static void print_mark(struct output *o, const struct ring_event *ev)
{
	text_puts(o->text, "MARK ");
	put_usecs(o, ev->ts);
	print_entry_ops.msg_only(o, ev);
}

void output_mmio_event(struct output *o, const struct ring_event *ev)
{
	const struct trace_entry *ent = ev->data;

	if (ent->type == TRACE_MMIO_RW && ev->len >= sizeof(struct trace_mmio_rw_entry))
		print_rw(o, ev);
	else if (ent->type == TRACE_MMIO_MAP && ev->len >= sizeof(struct trace_mmio_map_entry))
		print_map(o, ev);
	else if (ent->type == TRACE_PRINT && ev->len >= print_entry_ops.len)
		print_mark(o, ev);
}

void output_mmio_begin(struct output *o, const char *devices)
{
	text_puts(o->text, "VERSION 20070824\n");
	if (devices)
		text_puts(o->text, devices);
}

void output_mmio_lost(struct output *o, uint64_t lost)
{
	text_printf(o->text, "MARK 0.000000 Lost %" PRIu64 " events.\n", lost);
}
