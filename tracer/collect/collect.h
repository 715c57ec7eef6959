/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * collect.h - the collector: a thread that moves records from the staging rings into the ring
 * buffers, and answers the calls that guards make from within the guest.
 */
#ifndef HVTRACE_TRACER_COLLECT_COLLECT_H
#define HVTRACE_TRACER_COLLECT_COLLECT_H

#include "tracer/core/trace.h"
#include "tracer/window/window.h"

struct collector;

/* The window's control blocks are set up. 0 or -errno. */
int collector_start(struct collector **to, struct trace *t, struct window *w);
/* Records are made by hits: it may be long before one that has been begun is complete. */
void collector_be_patient(struct collector *c);
/*
 * Move what there is of one vCPU now, so that a record made by other means comes behind it.
 * Called with t->vcpu_lock[vcpu] held.
 */
void collector_drain(struct collector *c, unsigned int vcpu);
/* Have the horizon (ring/horizon.h) come up to what there is now. The locks of all vCPUs are held. */
void collector_catch_up(struct collector *c);
/*
 * The stack of the event with this number, which is not complete yet and whose vCPU stands: sp is
 * where the address is that the function returns to by which it is committed. The vCPU's lock is
 * held.
 */
void collector_event_stack(struct collector *c, unsigned int vcpu, uint32_t seq, uint64_t sp,
			   uint64_t bp);
/*
 * Nobody in the guest is in the payload any more: end the thread, move all that is left. The counts
 * stay until collector_free().
 */
void collector_stop(struct collector *c);
void collector_free(struct collector *c); /* NULL is allowed */

/* t->vcpu_lock of all vCPUs is held. */
void collector_get_counts(struct collector *c, struct trampoline_counts *counts);

#endif
