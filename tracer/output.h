/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * output.h - events as text, byte for byte as the kernel's trace and trace_pipe files (6.1).
 *
 * Nothing here knows a machine: names come from struct output_config.
 */
#ifndef HVTRACE_TRACER_OUTPUT_H
#define HVTRACE_TRACER_OUTPUT_H

#include "tracer/comms.h"
#include "tracer/ring.h"
#include "tracer/text.h"

/* The options of the same names in tracefs that change how events are printed. */
enum output_option {
	OUTPUT_PRINT_PARENT = 1 << 0,
	OUTPUT_SYM_OFFSET = 1 << 1,
	OUTPUT_SYM_ADDR = 1 << 2,
	OUTPUT_VERBOSE = 1 << 3,
	OUTPUT_RAW = 1 << 4,
	OUTPUT_HEX = 1 << 5,
	OUTPUT_ANNOTATE = 1 << 6,
	OUTPUT_CONTEXT_INFO = 1 << 7,
	OUTPUT_IRQ_INFO = 1 << 8,
	OUTPUT_RECORD_TGID = 1 << 9,
	OUTPUT_LATENCY_FORMAT = 1 << 10,
};

#define OUTPUT_DEFAULT                                                                             \
	(OUTPUT_PRINT_PARENT | OUTPUT_ANNOTATE | OUTPUT_CONTEXT_INFO | OUTPUT_IRQ_INFO)

struct output_config {
	uint32_t options;
	const char *tracer;  /* "function" */
	const char *release; /* of the kernel */
	const char
		*preempt_model; /* as latency-format names it: "server", "desktop", "preempt" … */
	unsigned int cpus;
	bool ns;	     /* times are nanoseconds; otherwise bare counts */
	uint64_t time_start; /* latency-format: times are printed since this one */
	unsigned int cpu;    /* latency-format: the CPU that the header names */
	struct comms *comms;
	/*
	 * Name of the symbol that addr is in, with its distance from the symbol's start and the
	 * symbol's size, as the kernel's kallsyms_lookup(); NULL when it is in none.
	 */
	const char *(*symbol)(void *arg, uint64_t addr, uint64_t *off, uint64_t *size);
	void *arg;
};

/* One reading of a trace from its beginning. */
struct output {
	struct output_config cfg;
	struct text *text; /* where everything goes */
	uint64_t index;	   /* events printed */
	uint64_t started;  /* CPUs (below 64) of which an event was printed */
	bool overrun;	   /* events were lost before the beginning */
};

void output_init(struct output *o, const struct output_config *cfg, struct text *text);

/*
 * What a trace file begins with: entries are in the buffers, written is these and the overrun ones.
 * trace_pipe has no header, and no "buffer started" lines.
 */
void output_header(struct output *o, uint64_t entries, uint64_t written);

/*
 * One event, after a line about lost ones. next_ts is the time of the event that will follow, the
 * event's own when there is none.
 */
void output_event(struct output *o, unsigned int cpu, const struct ring_event *ev,
		  uint64_t next_ts);

#endif
