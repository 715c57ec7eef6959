// SPDX-License-Identifier: GPL-2.0-or-later
/* output.c - prints events: picks the form and who prints this type (kernel/trace/trace.c, 6.1). */
#include "tracer/output-internal.h"

#include <inttypes.h>

#include "tracer/ring-page.h"

/* A tracer with entries of its own adds its row. */
static const struct entry_ops *const entry_table[] = {
	&function_entry_ops,
};

/* Who prints this entry; NULL: its type is unknown, or it is too short for it. */
static const struct entry_ops *entry_find(const struct trace_entry *ent, size_t len)
{
	for (size_t i = 0; i < sizeof(entry_table) / sizeof(entry_table[0]); i++) {
		if (entry_table[i]->type == ent->type)
			return len >= entry_table[i]->len ? entry_table[i] : NULL;
	}
	return NULL;
}

void output_init(struct output *o, const struct output_config *cfg, struct text *text)
{
	*o = (struct output){.cfg = *cfg, .text = text};
}

void output_symbol(struct output *o, uint64_t addr)
{
	bool offset = output_option(o, OUTPUT_SYM_OFFSET);
	uint64_t off = 0, size = 0;
	const char *name;

	if (!addr) {
		text_putc(o->text, '0');
		return;
	}
	name = o->cfg.symbol(o->cfg.arg, addr, &off, &size);
	if (name && offset)
		text_printf(o->text, "%s+0x%" PRIx64 "/0x%" PRIx64, name, off, size);
	else if (name)
		text_puts(o->text, name);
	else
		text_printf(o->text, offset ? "0x%" PRIx64 : "0x%08" PRIx64, addr);
	if (output_option(o, OUTPUT_SYM_ADDR))
		text_printf(o->text, " <%016" PRIx64 ">", addr);
}

void output_hex(struct output *o, uint64_t value, unsigned int size)
{
	text_printf(o->text, "%0*" PRIx64 " ", (int)size * 2, value);
}

static void output_lost(struct output *o, unsigned int cpu, uint64_t lost)
{
	if (lost == RING_LOST_UNKNOWN)
		text_printf(o->text, "CPU:%u [LOST EVENTS]\n", cpu);
	else if (lost)
		text_printf(o->text, "CPU:%u [LOST %" PRIu64 " EVENTS]\n", cpu, lost);
}

/*
 * Where buffers have overrun, what a CPU did before its first event is not there: say so. Not for
 * the first two events of a trace, as the kernel (test_cpu_buff_start).
 */
static void output_started(struct output *o, unsigned int cpu)
{
	uint64_t bit = cpu < 64 ? UINT64_C(1) << cpu : 0;

	if (!output_option(o, OUTPUT_ANNOTATE) || !o->overrun || o->started & bit)
		return;
	o->started |= bit;
	if (o->index > 1)
		text_printf(o->text, "##### CPU %u buffer started ####\n", cpu);
}

static void output_trace_form(struct output *o, unsigned int cpu, const struct ring_event *ev,
			      uint64_t next_ts)
{
	const struct trace_entry *ent = ev->data;
	const struct entry_ops *ops = entry_find(ent, ev->len);

	output_started(o, cpu);
	if (output_option(o, OUTPUT_CONTEXT_INFO)) {
		if (output_option(o, OUTPUT_LATENCY_FORMAT))
			output_latency_context(o, cpu, ev->ts, ent, next_ts);
		else
			output_context(o, cpu, ev->ts, ent);
	}
	if (ops)
		ops->trace(o, ent);
	else
		text_printf(o->text, "Unknown type %d\n", ent->type);
}

static void output_raw_form(struct output *o, unsigned int cpu, const struct ring_event *ev)
{
	const struct trace_entry *ent = ev->data;
	const struct entry_ops *ops = entry_find(ent, ev->len);

	if (output_option(o, OUTPUT_CONTEXT_INFO))
		text_printf(o->text, "%d %u %" PRIu64 " ", ent->pid, cpu, ev->ts);
	if (ops)
		ops->raw(o, ent);
	else
		text_printf(o->text, "%d ?\n", ent->type);
}

static void output_hex_form(struct output *o, unsigned int cpu, const struct ring_event *ev)
{
	const struct trace_entry *ent = ev->data;
	const struct entry_ops *ops = entry_find(ent, ev->len);

	if (output_option(o, OUTPUT_CONTEXT_INFO)) {
		output_hex(o, (uint32_t)ent->pid, sizeof(ent->pid));
		output_hex(o, cpu, sizeof(cpu));
		output_hex(o, ev->ts, sizeof(ev->ts));
	}
	if (ops)
		ops->hex(o, ent);
	else
		text_putc(o->text, '\n');
}

void output_event(struct output *o, unsigned int cpu, const struct ring_event *ev, uint64_t next_ts)
{
	output_lost(o, cpu, ev->lost);
	if (ev->len < sizeof(struct trace_entry))
		text_puts(o->text, "[ENTRY TOO SHORT]\n");
	else if (output_option(o, OUTPUT_HEX))
		output_hex_form(o, cpu, ev);
	else if (output_option(o, OUTPUT_RAW))
		output_raw_form(o, cpu, ev);
	else
		output_trace_form(o, cpu, ev, next_ts);
	o->index++;
}
