/* SPDX-License-Identifier: GPL-2.0-or-later */
/* print.h - events as text, as trace-cmd report has it, or as JSON. */
#ifndef HVTRACE_FRONTEND_DECODE_PRINT_H
#define HVTRACE_FRONTEND_DECODE_PRINT_H

#include <stdio.h>

#include "frontend/decode/formats.h"

struct json;
struct print;

struct print_config {
	bool nanoseconds; /* all digits of times */
	bool latency;	  /* flags: interrupts off, and such */
	bool raw;	  /* fields as they are, not as the event's format has them */
	bool plain;	  /* by nothing but what the formats say */
	bool graph_tail;  /* function_graph: name the function where it ends */
	bool graph_depth; /* and tell the depth */
	bool no_buffer;	  /* do not tell which buffer it is in */
};

/* Until print_free() f prints for this one alone. NULL: no memory. */
struct print *print_new(struct dat *d, struct formats *f, struct records *e,
			const struct print_config *cfg);
void print_free(struct print *p); /* NULL is allowed */

/* The event that records_next() gave last, as a line (or several) of trace-cmd report. */
void print_text(struct print *p, const struct decode_event *ev, FILE *out);
/* What an event says, as its format has it, without a line end; print_new() is not needed for it.
 */
void print_info(struct formats *f, const struct decode_event *ev, struct trace_seq *to);
/* What trace-cmd report --stat prints. */
void print_stat(struct dat *d, FILE *out);
/*
 * An event as an object of JSON, in one line; print_new() is not needed for it. file: where several
 * are together, NULL: not told.
 */
void print_json(struct dat *d, struct formats *f, const char *file, const struct decode_event *ev,
		FILE *out);
/* Its fields alone, as an object of this key. */
void print_json_fields(const struct tep_event *event, const struct decode_event *ev,
		       const char *key, struct json *j);

#endif
