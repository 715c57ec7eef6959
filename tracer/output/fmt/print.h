/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * print.h - how records of trace events are printed: by their print fmt, or as the kernel
 * prints those of system calls and probes, which it does not print by that.
 *
 * A printer is of one trace. Any thread may look things up while another one adds.
 */
#ifndef HVTRACE_TRACER_OUTPUT_FMT_PRINT_H
#define HVTRACE_TRACER_OUTPUT_FMT_PRINT_H

#include "tracer/lib/kprintf.h"
#include "tracer/output/fmt/expr.h"

enum event_form_kind {
	EVENT_FORMAT,	     /* its pieces */
	EVENT_SYSCALL_ENTER, /* name(field: value, …) */
	EVENT_SYSCALL_EXIT,  /* name -> value */
	/* Its print fmt is beyond us, or takes too much memory: the fields, as the kernel's option
	 * does. */
	EVENT_FIELDS,
};

/* Text, and one conversion behind it. */
struct event_piece {
	const char *text;
	size_t len;
	struct kprintf_spec spec; /* conversion 0: there is none */
	const char *kind;	  /* behind %p, as long as it goes on */
	bool is_bare;		  /* %p alone: the option hash-ptr is about it */
	bool quoted;		  /* a probe's string, in quotes unless it could not be read */
	const struct expr *width, *precision, *arg;
};

struct event_form {
	enum event_form_kind kind;
	const char *name; /* of a system call with sys_ before it */
	size_t name_len;
	const struct event_piece *piece;
	size_t nr_pieces;
	const struct guestsym_event_field *field;
	size_t nr_fields;
};

struct event_printer;

/* names outlives the printer, and may change until an event is added. NULL: no memory. */
struct event_printer *event_printer_new(const struct expr_names *names);
void event_printer_free(struct event_printer *p); /* NULL is allowed */

/*
 * These are the events now, of which some may be known already; what is needed of them is copied.
 * Others stay: there may be records of them. One that would take more memory than EXPR_MEMORY_MAX,
 * or with all others more than EXPR_MEMORY_SHARED, is left out: its records are of an unknown type.
 * 0, or -ENOMEM with some of them missing.
 */
int event_printer_add(struct event_printer *p, const struct guestsym_event_list *list);

/* Whether such records are known, and this one is long enough to be one. p may be NULL. */
bool event_printer_knows(struct event_printer *p, uint16_t id, size_t len);
/* How they are printed; lasts as long as the printer. NULL: not known, or no memory. */
const struct event_form *event_printer_form(struct event_printer *p, uint16_t id);

#endif
