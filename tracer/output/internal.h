/* SPDX-License-Identifier: GPL-2.0-or-later */
/* internal.h - what the files that print events share. */
#ifndef HVTRACE_TRACER_OUTPUT_INTERNAL_H
#define HVTRACE_TRACER_OUTPUT_INTERNAL_H

#include "tracer/lib/kprintf.h"
#include "tracer/output/output.h"
#include "tracer/ring/entry.h"

/*
 * How events of one type are printed behind the context columns, line end included (struct
 * trace_event_functions). The event's data is a struct trace_entry and at least len bytes long.
 * Where a form is NULL, "type: NUMBER" stands for it.
 */
struct entry_ops {
	size_t len;
	void (*trace)(struct output *o, const struct ring_event *ev);
	void (*raw)(struct output *o, const struct ring_event *ev);
	void (*hex)(struct output *o, const struct ring_event *ev);
	void (*bin)(struct output *o, const struct ring_event *ev);
	/* With printk-msg-only, whatever the form, and in graphs; NULL: it makes no difference. */
	void (*msg_only)(struct output *o, const struct ring_event *ev);
};

extern const struct entry_ops function_entry_ops, repeats_entry_ops;
extern const struct entry_ops graph_entry_ops, graph_exit_ops;
extern const struct entry_ops context_switch_entry_ops, wakeup_entry_ops;
extern const struct entry_ops stack_entry_ops, user_stack_entry_ops;
extern const struct entry_ops print_entry_ops, bprint_entry_ops, bputs_entry_ops;
extern const struct entry_ops raw_data_entry_ops, hwlat_entry_ops, blk_entry_ops, branch_entry_ops;
extern const struct entry_ops trace_event_ops; /* of all events of output_config.events */

static inline bool output_option(const struct output *o, enum output_option option)
{
	return o->cfg.options & option;
}

/* An address as the sym-* options say. */
void output_address(struct output *o, uint64_t addr);
/* The name of the function at an address, with its module's in brackets behind it. */
void output_name(struct output *o, uint64_t addr);
/* The same with the distance from its start and its size: as %pS. */
void output_place(struct output *o, uint64_t addr);
/* An integer of size bytes as the hex option has it. */
void output_hex(struct output *o, uint64_t value, unsigned int size);
/* The time column, with the blank before it. */
void output_time(struct output *o, uint64_t ts);
/* printf() of a format whose arguments vbin_printf() has packed into at most len bytes. */
void output_bprintf(struct output *o, const char *format, const void *args, size_t len);
/* Where a pointer leads: to a place in the guest, or to `room` bytes that are here. */
struct output_pointer {
	uint64_t addr;
	const uint8_t *bytes; /* NULL: they are not here */
	size_t room;
};

/* %p and what stands behind it, `kind`. */
void output_pointer(struct output *o, const struct kprintf_spec *spec, const char *kind,
		    const struct output_pointer *p);
/* What was printed for addresses; NULL: no memory, it is only slower without. NULL is allowed. */
struct symbol_cache *output_symbols_new(void);
void output_symbols_free(struct symbol_cache *cache);
/* Symbols are to be asked for anew. */
void output_forget_symbols(struct output *o);

/* The columns before an event. */
void output_context(struct output *o, unsigned int cpu, const struct ring_event *ev);
void output_latency_context(struct output *o, unsigned int cpu, const struct ring_event *ev,
			    uint64_t next_ts);
enum { OUTPUT_FLAG_COLUMNS = 5 };
/* The context flags, five columns. */
char *output_put_flags(char *at, const struct trace_entry *ent);
/* How conspicuous a delay is (trace_find_mark). */
char output_delay_mark(uint64_t ns);
/* What latency-format begins with, in every tracer's form. */
void output_latency_header(struct output *o, uint64_t entries, uint64_t written);

/* Who prints events of this event's type; NULL: it is unknown, or the event is too short for it. */
const struct entry_ops *output_entry_find(const struct output *o, const struct ring_event *ev);

/* --- graph.c: events in the form of the tracer function_graph ------------------------- */

/* Where each of so many CPUs is in its calls. NULL: no memory. */
struct output_graph *output_graph_new(unsigned int cpus);
void output_graph_free(struct output_graph *graph); /* NULL is allowed */
/* What a trace file has below the tracer's name. */
void output_graph_header(struct output *o, uint64_t entries, uint64_t written, bool empty);
/* An event of CPU o->cpu. False: it is to be printed in the common form. */
bool output_graph_event(struct output *o, const struct ring_event *ev);

/* --- blk.c: events of the tracer blk, while that is the tracer ---------------------------- */

/* What a trace file has below the tracer's name. */
void output_blk_header(struct output *o);
/* An event of CPU o->cpu. False: it is to be printed in the common form. */
bool output_blk_event(struct output *o, const struct ring_event *ev);

/* --- hw-branch.c: events of the tracer hw-branch-tracer, while that is the tracer --------- */

/* What a trace file has below the tracer's name. */
void output_hw_branch_header(struct output *o);
/* An event of CPU o->cpu. False: it is to be printed in the common form. */
bool output_hw_branch_event(struct output *o, const struct ring_event *ev);

/* --- branch.c: what a trace file has below the name of the tracer branch ------------------ */

void output_branch_header(struct output *o);

/* --- mmio.c: events of the tracer mmiotrace, while that is the tracer --------------------- */

/* Prints nothing for events that are not of its kinds. */
void output_mmio_event(struct output *o, const struct ring_event *ev);

#endif
