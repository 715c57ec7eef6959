// SPDX-License-Identifier: GPL-2.0-or-later
/* output.c - prints events: picks the form and who prints this type (kernel/trace/trace.c, 6.1). */
#include "tracer/output/internal.h"

#include <inttypes.h>

#include "tracer/ring/page.h"

/* A tracer with entries of its own adds its row. */
static const struct entry_ops *const entry_table[] = {
	[TRACE_FN] = &function_entry_ops,	    [TRACE_CTX] = &context_switch_entry_ops,
	[TRACE_WAKE] = &wakeup_entry_ops,	    [TRACE_STACK] = &stack_entry_ops,
	[TRACE_PRINT] = &print_entry_ops,	    [TRACE_BPRINT] = &bprint_entry_ops,
	[TRACE_USER_STACK] = &user_stack_entry_ops, [TRACE_BPUTS] = &bputs_entry_ops,
	[TRACE_RAW_DATA] = &raw_data_entry_ops,	    [TRACE_FUNC_REPEATS] = &repeats_entry_ops,
	[TRACE_HWLAT] = &hwlat_entry_ops,	    [TRACE_GRAPH_ENT] = &graph_entry_ops,
	[TRACE_GRAPH_RET] = &graph_exit_ops,	    [TRACE_BLK] = &blk_entry_ops,
	[TRACE_BRANCH] = &branch_entry_ops,
};

const struct entry_ops *output_entry_find(const struct output *o, const struct ring_event *ev)
{
	uint16_t type = ((const struct trace_entry *)ev->data)->type;
	const struct entry_ops *ops = NULL;

	if (type < sizeof(entry_table) / sizeof(entry_table[0]))
		ops = entry_table[type];
	if (!ops && event_printer_knows(o->cfg.events, type, ev->len))
		return &trace_event_ops;
	return ops && ev->len >= ops->len ? ops : NULL;
}

static void output_type(struct output *o, const struct trace_entry *ent)
{
	text_printf(o->text, "type: %u\n", ent->type);
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

	if (!o->overrun || !output_option(o, OUTPUT_ANNOTATE) || !bit || o->started & bit)
		return;
	o->started |= bit;
	if (o->index > 1)
		text_printf(o->text, "##### CPU %u buffer started ####\n", cpu);
}

static void output_trace_form(struct output *o, unsigned int cpu, const struct ring_event *ev,
			      uint64_t next_ts)
{
	const struct trace_entry *ent = ev->data;
	const struct entry_ops *ops = output_entry_find(o, ev);

	output_started(o, cpu);
	if (output_option(o, OUTPUT_CONTEXT_INFO)) {
		if (output_option(o, OUTPUT_LATENCY_FORMAT))
			output_latency_context(o, cpu, ev, next_ts);
		else
			output_context(o, cpu, ev);
	}
	if (ops)
		ops->trace(o, ev);
	else
		text_printf(o->text, "Unknown type %u\n", ent->type);
}

static void output_raw_form(struct output *o, unsigned int cpu, const struct ring_event *ev)
{
	const struct trace_entry *ent = ev->data;
	const struct entry_ops *ops = output_entry_find(o, ev);

	if (output_option(o, OUTPUT_CONTEXT_INFO))
		text_printf(o->text, "%d %u %" PRIu64 " ", ent->pid, cpu, ev->ts);
	if (!ops)
		text_printf(o->text, "%u ?\n", ent->type);
	else if (ops->raw)
		ops->raw(o, ev);
	else
		output_type(o, ent);
}

static void output_hex_form(struct output *o, unsigned int cpu, const struct ring_event *ev)
{
	const struct trace_entry *ent = ev->data;
	const struct entry_ops *ops = output_entry_find(o, ev);

	if (output_option(o, OUTPUT_CONTEXT_INFO)) {
		output_hex(o, (uint32_t)ent->pid, sizeof(ent->pid));
		output_hex(o, cpu, sizeof(cpu));
		output_hex(o, ev->ts, sizeof(ev->ts));
	}
	if (ops && ops->hex)
		ops->hex(o, ev);
	else if (ops)
		output_type(o, ent);
	text_putc(o->text, '\n');
}

static void output_bin_form(struct output *o, unsigned int cpu, const struct ring_event *ev)
{
	const struct trace_entry *ent = ev->data;
	const struct entry_ops *ops = output_entry_find(o, ev);

	if (output_option(o, OUTPUT_CONTEXT_INFO)) {
		text_add(o->text, &ent->pid, sizeof(ent->pid));
		text_add(o->text, &cpu, sizeof(cpu));
		text_add(o->text, &ev->ts, sizeof(ev->ts));
	}
	if (ops && ops->bin)
		ops->bin(o, ev);
	else if (ops)
		output_type(o, ent);
}

static bool output_msg_only(struct output *o, const struct ring_event *ev)
{
	const struct entry_ops *ops;

	if (!output_option(o, OUTPUT_PRINTK_MSG_ONLY) || !output_option(o, OUTPUT_PRINTK))
		return false;
	ops = output_entry_find(o, ev);
	if (!ops || !ops->msg_only)
		return false;
	ops->msg_only(o, ev);
	return true;
}

static void output_form(struct output *o, unsigned int cpu, const struct ring_event *ev,
			uint64_t next_ts)
{
	if (o->is_graph && output_graph_event(o, ev))
		return;
	if (o->is_blk && output_blk_event(o, ev))
		return;
	if (o->is_hw_branch && output_hw_branch_event(o, ev))
		return;
	if (o->is_mmio) {
		output_mmio_event(o, ev);
		return;
	}
	if (output_msg_only(o, ev))
		return;
	if (output_option(o, OUTPUT_BIN))
		output_bin_form(o, cpu, ev);
	else if (output_option(o, OUTPUT_HEX))
		output_hex_form(o, cpu, ev);
	else if (output_option(o, OUTPUT_RAW))
		output_raw_form(o, cpu, ev);
	else
		output_trace_form(o, cpu, ev, next_ts);
}

static void print_event(struct output *o, unsigned int cpu, const struct ring_event *ev,
			const struct ring_event *ret, uint64_t next_ts)
{
	o->cpu = cpu;
	o->ret = ret;
	output_lost(o, cpu, ev->lost);
	if (ev->len < sizeof(struct trace_entry))
		text_puts(o->text, "[ENTRY TOO SHORT]\n");
	else
		output_form(o, cpu, ev, next_ts);
	o->index++;
}

void output_event(struct output *o, unsigned int cpu, const struct ring_event *ev, uint64_t next_ts)
{
	print_event(o, cpu, ev, NULL, next_ts);
}

/* --- leaves ------------------------------------------------------------------------------- */

bool output_may_be_leaf(const struct output *o, const struct ring_event *ev)
{
	const uint32_t other = OUTPUT_BIN | OUTPUT_HEX | OUTPUT_RAW;

	return ev->len >= sizeof(struct trace_graph_entry) &&
	       ((const struct trace_entry *)ev->data)->type == TRACE_GRAPH_ENT &&
	       (o->is_graph || !(o->cfg.options & other));
}

bool output_is_leaf(const struct output *o, const struct ring_event *ev,
		    const struct ring_event *ret)
{
	const struct trace_graph_entry *e = ev->data;
	const struct trace_graph_exit *r = ret->data;

	return output_may_be_leaf(o, ev) && ret->len >= sizeof(*r) && !ret->lost &&
	       r->ent.type == TRACE_GRAPH_RET && r->ent.pid == e->ent.pid && r->func == e->func;
}

void output_leaf(struct output *o, unsigned int cpu, const struct ring_event *ev,
		 const struct ring_event *ret, uint64_t next_ts)
{
	print_event(o, cpu, ev, ret, next_ts);
}

void output_set_options(struct output *o, uint32_t options, uint32_t graph_options,
			uint32_t blk_options)
{
	uint32_t keep = OUTPUT_LATENCY_FORMAT, changed;

	o->options = options;
	o->cfg.graph_options = graph_options;
	o->cfg.blk_options = blk_options;
	options = (options & ~keep) | (o->cfg.options & keep);
	changed = options ^ o->cfg.options;
	o->cfg.options = options;
	if (changed & (OUTPUT_SYM_OFFSET | OUTPUT_SYM_ADDR))
		output_forget_symbols(o);
}
