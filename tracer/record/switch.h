/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * switch.h - the guest's kernel turns recording off and on, by its own tracing_off() and
 * tracing_on(): what the top level is to make of it (payload/switch.S, tracepoint/switch.h).
 *
 * Off is as of the call's time, on all vCPUs: what is collected that was recorded later is left out
 * from the moment on that the time can be read, and it can be read before anything that was
 * recorded later.
 */
#ifndef HVTRACE_TRACER_RECORD_SWITCH_H
#define HVTRACE_TRACER_RECORD_SWITCH_H

#include "tracer/core/trace.h"

/* Records have been read, or a trap was hit, and are about to be collected; a vCPU's lock is held.
 */
void record_switch_look(struct trace *t);
/* Do what is left to be done, and say it; no lock is held. */
void record_switch_due(struct trace *t);
/* tracing_on() is called by a vCPU, which waits; trace.change is held. */
void record_switch_on(struct trace *t);

#endif
