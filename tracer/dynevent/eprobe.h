/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * eprobe.h - event probes: events whose records are made of those of another event, the
 * one that they are at (kernel/trace/trace_eprobe.c, 6.1).
 *
 * While an instance wants one, it makes use of the other event as a trigger would: that one's
 * records are collected, and shown to the probe whether they are kept or not.
 */
#ifndef HVTRACE_TRACER_DYNEVENT_EPROBE_H
#define HVTRACE_TRACER_DYNEVENT_EPROBE_H

#include "tracer/core/trace.h"

struct event_probes;
struct event_view;

struct event_probes *event_probes_new(struct trace *t); /* NULL: no memory */
void event_probes_free(struct event_probes *p);		/* NULL is allowed */

/*
 * What instances want has changed: let go of the events that are not needed for that any more, and
 * want those that are. The events' lock is held; events_apply() goes on from there.
 */
void event_probes_apply(struct event_probes *p);
/* There is one at that event, on or off. The events' lock is held. */
bool event_probes_at(const struct event_probes *p, uint32_t event);

#endif
