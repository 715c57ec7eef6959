/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * critical.h - windows in which interrupts are off, or tasks cannot be preempted, from the records
 * that the payload makes of them (payload.h, CTL_CRITICAL).
 *
 * Whether a window is one of either kind, or of both together, the payload decides: here is told
 * which record of an end belongs to which of a beginning.
 */
#ifndef HVTRACE_TRACER_PAYLOAD_CRITICAL_H
#define HVTRACE_TRACER_PAYLOAD_CRITICAL_H

#include "tracer/payload/record.h"

#include <stdbool.h>

struct event_stack;

struct critical_window {
	unsigned int vcpu;
	struct payload_record off, on; /* how it began, how it ended */
	/* Where it ended, the site's own function first; NULL: the host was not asked. */
	const struct event_stack *stack;
};

/* Of one vCPU. */
struct critical {
	struct payload_record off;
	bool open; /* a beginning has come, its end has not */
};

/* Records are missing. */
void critical_lost(struct critical *c);
/* The vCPU's next record, of whatever type. True: a window has ended, w gets off and on. */
bool critical_step(struct critical *c, const struct payload_record *r, struct critical_window *w);
/* How long it took; 0 when the guest claims that it ended before it began. */
static inline uint64_t critical_ticks(const struct critical_window *w)
{
	return w->on.tsc > w->off.tsc ? w->on.tsc - w->off.tsc : 0;
}

#endif
