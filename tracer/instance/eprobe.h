/* SPDX-License-Identifier: GPL-2.0-or-later */
/* eprobe.h - what dynevent/eprobe.c and eprobe-hit.c share. */
#ifndef HVTRACE_TRACER_INSTANCE_EPROBE_H
#define HVTRACE_TRACER_INSTANCE_EPROBE_H

#include "tracer/events/define/dyn-event.h"
#include "tracer/events/define/probe.h"
#include "tracer/events/events.h"

struct event_filter;
struct event_view;

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

/* Triggers of one at that event look at the stack. */
bool event_probes_want_stacks(const struct event_probes *p, const struct instance *i,
			      uint32_t event);
/* A record of an event, of which struct event_state has `probes`. The vCPU's lock is held. */
void event_probes_hit(const struct event_probes *p, uint32_t event, const struct event_view *from);

#endif
