/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * traps.h - the guest's own event probes, with probes that are traps: what the payload does
 * with trampolines (payload/event.S) the host does at two places of it, which its functions come to
 * with files of ours only. Rooms and records are in the window's rings all the same, so the
 * collector takes both alike.
 */
#ifndef HVTRACE_TRACER_TRACEPOINT_TRAPS_H
#define HVTRACE_TRACER_TRACEPOINT_TRAPS_H

#include <stdbool.h>
#include <stdint.h>

struct machine_hit;
struct trace;

/* In struct trace: where struct trace_event_buffer has its members. */
struct event_traps {
	uint32_t event, file, entry;
	bool set; /* the events' lock */
};

/*
 * They are in the window from now on; the machine runs. 0, -EOPNOTSUPP where the kernel does not
 * tell enough, or the machine's error.
 */
int event_traps_insert(struct trace *t);
/* The guest does not come by there any more. 0 or the machine's error. */
int event_traps_remove(struct trace *t);
/* A trap was hit, on the vCPU's thread. False: it is none of these. */
bool event_traps_hit(struct trace *t, const struct machine_hit *hit);

#endif
