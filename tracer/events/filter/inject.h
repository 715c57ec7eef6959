/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * inject.h - what is written to `inject` of an event: FIELD=VALUE..., which make a record of it.
 *
 * The language and the errnos are those of kernel/trace/trace_events_inject.c of Linux 6.1 and
 * 6.12.
 */
#ifndef HVTRACE_TRACER_EVENTS_FILTER_INJECT_H
#define HVTRACE_TRACER_EVENTS_FILTER_INJECT_H

#include "tracer/events/filter/data.h"

#define EVENT_INJECT_MAX 4096 /* no ring buffer takes more */

/* What stands in fields that are addresses of strings: of one that is set, and of an empty one. */
struct event_inject_strings {
	uint64_t set, empty;
};

struct event_injection {
	size_t len;
	_Alignas(8) uint8_t record[EVENT_INJECT_MAX];
};

/*
 * The record that text (terminated) makes: with what all begin with, of which only the type is set,
 * unless text says more. 0; -EINVAL, -ERANGE (a number), -ENOENT (no such field), -E2BIG: more than
 * a ring buffer takes.
 */
int event_inject_parse(const struct event_format *format,
		       const struct event_inject_strings *strings, const char *text,
		       struct event_injection *in);

#endif
