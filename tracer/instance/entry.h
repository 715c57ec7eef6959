/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * entry.h - what goes into the ring of an instance, and when: at once, or when its turn comes
 * (order.h); its time stamp, which is a number where the clock counts.
 */
#ifndef HVTRACE_TRACER_INSTANCE_ENTRY_H
#define HVTRACE_TRACER_INSTANCE_ENTRY_H

#include "tracer/instance/instance.h"

enum entry_use {
	ENTRY_COUNTED = 1 << 0, /* as one of those that --max-events asks for */
	ENTRY_OF_CALL = 1 << 1, /* it is told behind the vCPU's latest call, if that is */
};

/* One that is complete: it begins with a struct trace_entry. */
struct entry {
	uint64_t tsc; /* of the guest, when it was made */
	uint64_t ts;  /* instance_time() */
	const void *data;
	size_t len;
	unsigned int uses; /* enum entry_use */
};

/*
 * The clock counter's numbers are given in the order of all vCPUs, when what they are of is
 * written: until then its time is the TSC. (The tracer of a latency has times of its own.)
 */
static inline bool instance_counts(const struct instance *i)
{
	const struct clock_ops *clock = i->clock;

	return clock->counts && !i->tracer->max;
}

/* The time of what vCPU's record says was made at tsc; its lock is held. */
static inline uint64_t instance_time(struct instance *i, const struct clock_reading *now,
				     uint64_t tsc)
{
	if (instance_counts(i))
		return tsc;
	return horizon_time(&i->horizon, clock_read(i->clock, i->t, now, tsc));
}

/* The same of what the host makes now, which says when that is (NULL: nobody asks). */
uint64_t instance_time_now(struct instance *i, unsigned int vcpu, uint64_t *tsc);

/* What the time stamp says of what is written now. */
static inline uint64_t instance_stamp(struct instance *i, uint64_t ts)
{
	return instance_counts(i) ? clock_count(i->t) : ts;
}

/* ring_reserve() with its time stamp, then ring_commit(i->ring[vcpu]). */
void *instance_room(struct instance *i, unsigned int vcpu, uint64_t ts, size_t len);

/* One more of what --max-events asks for, of which only the top level takes part; false: no more.
 */
bool instance_admits(struct instance *i);

/*
 * One of that vCPU, whose lock is held: it may wait; it goes into the ring, if recording is on
 * then.
 */
void instance_take_entry(struct instance *i, unsigned int vcpu, const struct entry *e);
void instance_put_entry(struct instance *i, unsigned int vcpu, const struct entry *e);

/*
 * What an entry of that type says about the task and its state, and its times, from the guest's
 * state at a hit. False: the instance does not want this task.
 */
bool instance_describe(struct instance *i, const struct machine_hit *hit, uint16_t type,
		       struct trace_entry *ent, struct entry *e);
/* The same whatever the task; with hit->regs NULL it says nothing of task and state. */
void instance_describe_any(struct instance *i, const struct machine_hit *hit, uint16_t type,
			   struct trace_entry *ent, struct entry *e);

#endif
