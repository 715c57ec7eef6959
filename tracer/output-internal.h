/* SPDX-License-Identifier: GPL-2.0-or-later */
/* output-internal.h - what the files that print events share. */
#ifndef HVTRACE_TRACER_OUTPUT_INTERNAL_H
#define HVTRACE_TRACER_OUTPUT_INTERNAL_H

#include "tracer/entry.h"
#include "tracer/output.h"

/*
 * How entries of one type are printed, behind the context columns, line end included. The entry is
 * at least len bytes long.
 */
struct entry_ops {
	uint16_t type;
	size_t len;
	void (*trace)(struct output *o, const struct trace_entry *ent);
	void (*raw)(struct output *o, const struct trace_entry *ent);
	void (*hex)(struct output *o, const struct trace_entry *ent);
};

extern const struct entry_ops function_entry_ops;

static inline bool output_option(const struct output *o, enum output_option option)
{
	return o->cfg.options & option;
}

/* An address as the sym-* options say. */
void output_symbol(struct output *o, uint64_t addr);
/* An integer of size bytes as the hex option has it. */
void output_hex(struct output *o, uint64_t value, unsigned int size);
/* Round nanoseconds to microseconds as the kernel does (ns2usecs). */
uint64_t output_usecs(uint64_t ns);

/* The columns before an event. */
void output_context(struct output *o, unsigned int cpu, uint64_t ts, const struct trace_entry *ent);
void output_latency_context(struct output *o, unsigned int cpu, uint64_t ts,
			    const struct trace_entry *ent, uint64_t next_ts);

#endif
