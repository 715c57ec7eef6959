/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * horizon.h - up to what time all vCPUs' events are in the ring buffers of an instance.
 *
 * The collector empties one staging ring after the other, so what it has just written of one vCPU
 * may be later than what it is about to write of the next. Whoever consumes the events of all in
 * order goes no further than the horizon: the latest time that the buffers held when a pass began
 * in which every staging ring was emptied. What comes after that pass was recorded during it, and
 * is later; if it says otherwise all the same, it gets the time of the horizon, as a ring buffer
 * does with an event that is earlier than the one before.
 *
 * Times are those of the instance's clock, so it does not matter which one that is.
 */
#ifndef HVTRACE_TRACER_RING_HORIZON_H
#define HVTRACE_TRACER_RING_HORIZON_H

#include <stdatomic.h>
#include <stdint.h>

#include "tracer/ring/ring.h"

struct horizon {
	_Atomic uint64_t at;
	/*
	 * The latest time in the buffers at the end of the last pass, and of the one before: the
	 * records of function_graph wait for one pass more (record/graph.h).
	 */
	uint64_t latest[2];
};

/*
 * At the end of a pass. Bit n of `behind`: not all that vCPU n had recorded by its beginning could
 * be collected. True: the horizon has moved. As below, the locks of all vCPUs are held.
 */
bool horizon_pass(struct horizon *h, struct ring *const *rings, unsigned int nr, uint64_t behind,
		  bool waits_more);
/* Nothing is recorded any more: all that there is may be read. */
void horizon_end(struct horizon *h, struct ring *const *rings, unsigned int nr);
/* Times start anew, by another clock; the rings are empty. */
void horizon_reset(struct horizon *h);

/* The time that an event gets which is written now; the lock of its vCPU is held. */
static inline uint64_t horizon_time(const struct horizon *h, uint64_t ts)
{
	uint64_t at = atomic_load_explicit(&h->at, memory_order_relaxed);

	return ts < at ? at : ts;
}

#endif
