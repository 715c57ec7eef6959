/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * synth.h - the synthetic events of a trace: which there are, what synthetic_events says and
 * is told. Their records are written by the triggers of instances (control/event-trigger.c).
 */
#ifndef HVTRACE_TRACER_DYNEVENT_SYNTH_H
#define HVTRACE_TRACER_DYNEVENT_SYNTH_H

#include "tracer/core/trace.h"
#include "tracer/events/define/synth.h"

struct synth_events;

struct synth_events *synth_events_new(struct trace *t); /* NULL: no memory */
void synth_events_free(struct synth_events *s);		/* NULL is allowed */

/* The one of that name, NULL: there is none. The events' lock is held. */
struct synth_event *synth_events_find(struct synth_events *s, const char *name);

#endif
