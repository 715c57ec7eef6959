/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * order.h - brings what vCPUs have recorded into the order of its time, for an instance for which
 * the record of one vCPU changes what becomes of that of another: its histograms take values over,
 * its triggers and commands turn recording on and off or take a snapshot, its clock counts, its
 * tracer follows tasks.
 *
 * Staging rings are emptied one after the other. What is collected for such an instance waits here
 * until a later pass over all vCPUs has ended, when nothing earlier can come any more (as with
 * ring/horizon.h), and then goes the way that it would have gone at once: so the rings, too, have
 * all in its order. With function_graph it comes in order already, and does not wait. What the
 * tracer of a latency has found is copied out of the rings when a pass ends: then nothing waits
 * longer, and the order is that within a pass.
 */
#ifndef HVTRACE_TRACER_INSTANCE_ORDER_H
#define HVTRACE_TRACER_INSTANCE_ORDER_H

#include "tracer/instance/instance.h"

struct entry;
struct event_view;
struct payload_record;

/* Whether it is needed for that: all writers are stopped. Without memory all goes at once. */
void instance_order_want(struct instance *i, enum order_reason why, bool wanted);
void instance_order_free(struct instance *i);

static inline bool instance_is_ordered(const struct instance *i)
{
	return i->order && !i->tracer->exits && atomic_load(&i->t->collecting);
}

/*
 * Of vCPU vcpu, whose lock is held: a call of a function, a record of an event as
 * instance_take_event() gets it, an entry for the ring. True: it waits. False: it goes at once.
 */
bool instance_order_call(struct instance *i, unsigned int vcpu, const struct payload_record *r,
			 uint64_t ts);
bool instance_order_event(struct instance *i, uint32_t event, const struct event_view *view);
bool instance_order_entry(struct instance *i, unsigned int vcpu, const struct entry *e);

/* By which time of the guest's TSC all of a vCPU's has gone on that is here now, 0: nothing waits;
 * and whether anything up to there waits still. Its lock is held. */
uint64_t instance_order_last(const struct instance *i, unsigned int vcpu);
bool instance_order_waits(const struct instance *i, unsigned int vcpu, uint64_t until);

/* A pass ends (tracer_ops.pass): what is certain goes on. The locks of all vCPUs are held. */
void instance_order_pass(struct instance *i, uint64_t behind);
/* All has come: it all goes on. Likewise. */
void instance_order_flush(struct instance *i);
/* The same, up to this TSC: what is later waits, also if it is flushed, until it is UINT64_MAX. */
void instance_order_hold(struct instance *i, uint64_t tsc);

#endif
