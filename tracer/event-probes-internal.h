/* SPDX-License-Identifier: GPL-2.0-or-later */
/* event-probes-internal.h - what event-probes.c and event-probes-hit.c share. */
#ifndef HVTRACE_TRACER_EVENT_PROBES_INTERNAL_H
#define HVTRACE_TRACER_EVENT_PROBES_INTERNAL_H

#include "tracer/dyn-event.h"
#include "tracer/event-probes.h"
#include "tracer/events.h"
#include "tracer/probe-event-parse.h"

struct event_filter;

struct event_probe {
	struct event_probe *next;
	struct dyn_event dyn;
	struct probe_def *def;
	struct event_filter *filter; /* of records of the event that it is at; NULL: all */
	uint32_t event, at;	     /* in the list of events */
};

struct event_probes {
	struct trace *t;
	/* In their order; changed with the events' lock held and all writers stopped. */
	struct event_probe *first;
};

#endif
