/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * filter.h - which records of an event are kept: `prev_pid == 1 && next_comm ~ "sh*"`.
 *
 * The language, errors and errnos are those of kernel/trace/trace_events_filter.c of Linux 6.1;
 * `field.function == NAME` and `field & CPUS{0-3}` of later kernels are understood for all. One
 * thing differs: a string ends where it ends, also in a field of fixed size, so that
 * `comm ~ "*sh"` does what the kernel's documentation says of it.
 */
#ifndef HVTRACE_TRACER_EVENTS_FILTER_FILTER_H
#define HVTRACE_TRACER_EVENTS_FILTER_FILTER_H

#include "tracer/events/filter/data.h"
#include "tracer/lib/text.h"

#define EVENT_FILTER_WHERE "event filter parse error" /* the first part of an error_log entry */

struct event_filter;

/* For error_log_add(). */
struct event_filter_error {
	const char *what; /* a constant; NULL: there is nothing wrong */
	uint16_t pos;
};

/*
 * The filter that text (terminated) is for this event, 0 or -errno. When text is wrong err says
 * what, and *filter is one that lets all records pass and reads as that error: a filter file gets
 * it as it gets a good one. *filter is NULL for "0", which removes a filter, and when there is no
 * memory. The event and kernel (NULL: nothing is known of it) need not outlive the call.
 */
int event_filter_new(const struct event_format *format, const struct event_kernel *kernel,
		     const char *text, struct event_filter **filter,
		     struct event_filter_error *err);
/*
 * The same for one event of a subsystem, each of which gets the text that was written to the
 * subsystem's filter file. An error says that it is one of the subsystem's; it goes to the
 * error_log, while the write succeeds when the subsystem has an event at all.
 */
int event_filter_new_subsystem(const struct event_format *format, const struct event_kernel *kernel,
			       const char *text, struct event_filter **filter,
			       struct event_filter_error *err);
/* A filter for a trigger, whose text is not read back: *filter is NULL when it is wrong. */
int event_filter_compile(const struct event_format *format, const struct event_kernel *kernel,
			 const char *text, struct event_filter **filter,
			 struct event_filter_error *err);
void event_filter_free(struct event_filter *filter); /* NULL is allowed */

/* Whether there is something to be evaluated. NULL: there is not. */
bool event_filter_is_set(const struct event_filter *filter);
/* Whether the record is to be kept. NULL keeps all. Any thread, as long as the filter is there. */
bool event_filter_match(const struct event_filter *filter, const struct event_data *data);

void event_filter_print(const struct event_filter *filter, struct text *out); /* NULL: none */
/* What a subsystem's filter file reads, whatever was written. */
void event_filter_print_subsystem(struct text *out);

#endif
