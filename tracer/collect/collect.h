/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * collect.h - the collector: a thread that moves records from the staging rings into the ring
 * buffers, and answers the calls that guards make from within the guest.
 */
#ifndef HVTRACE_TRACER_COLLECT_COLLECT_H
#define HVTRACE_TRACER_COLLECT_COLLECT_H

#include "tracer/core/trace.h"

struct event_ring;
struct payload_record;

/*
 * What becomes of it: handed to collect_new() by whoever is above. Where nothing
 * else is said the locks of all vCPUs are held.
 */
struct collector_ops {
	/*
	 * n records of a vCPU, whose lock is held; `lost`: some are missing before the first. The
	 * data of events is in er.
	 */
	void (*batch)(struct trace *t, unsigned int vcpu, const struct payload_record *r, size_t n,
		      struct event_ring *er, bool lost);
	/* Records are missing behind those that have come; the vCPU's lock is held. */
	void (*lost)(struct trace *t, unsigned int vcpu);
	/*
	 * How many of this vCPU's next n records are to be handed over; 0: so much waits to be
	 * written that they had better stay where they are counted if they are lost. Its lock is
	 * held.
	 */
	size_t (*room)(const struct trace *t, unsigned int vcpu, size_t n);
	/* Records of all vCPUs are brought into one order, by merge(). */
	bool (*merges)(const struct trace *t);
	/*
	 * Every staging ring has been emptied since the last time, but for those with a bit in
	 * `held`: write what is certain by now, up to `max` records of it. True: there is more.
	 */
	bool (*merge)(struct trace *t, size_t max, uint64_t held);
	/* A pass ends: vCPUs whose bit is set in `behind` may have recorded more before it began.
	 */
	void (*pass)(struct trace *t, uint64_t behind, bool merged);
	/* Between two passes; no lock is held. */
	void (*idle)(struct trace *t);
	/* All has come. */
	void (*end)(struct trace *t);
	/* A vCPU waits at a site as if it had hit a trap; t->change is held, the machine paused. */
	void (*hit)(struct trace *t, const struct machine_hit *hit);
	/* Likewise at the payload's call for a probe event; only this vCPU stands. */
	void (*probe_event)(struct trace *t, const struct machine_hit *hit);
	/* Likewise where the guest's tracing_on() is called while recording is off. */
	void (*switch_on)(struct trace *t);
	/* Who looks at the stack of an event looks at that of the user mode as well; its vCPU's
	 * lock is held. */
	bool (*user_stacks)(const struct trace *t);
	/* It is not to go on from that site yet, but has to come to it again. */
	bool (*is_early)(struct trace *t, const struct probe *p);
};

/* Of what the guest has recorded. */
struct collect_counts {
	uint64_t made; /* by the guest's own count */
	uint64_t taken, lost, corrupt;
};

/* Nothing is open yet; ops outlives it. NULL: no memory. */
struct collect *collect_new(const struct collector_ops *ops);
void collect_free(struct collect *c); /* behind collect_close(); NULL is allowed */

/*
 * Trampolines: the window, the payload, the collector. The machine is not paused by the caller; an
 * attached guest runs, and one probe is tried in it. On error (one line in err) nothing is left in
 * the guest, but for a window that a site calls which cannot be written.
 */
int collect_open(struct trace *t, char *err, size_t errlen);
/*
 * The same for events alone, where probes are traps (tracepoint/traps.h): no site calls the
 * payload, so nothing is tried.
 */
int collect_open_events(struct trace *t, char *err, size_t errlen);
/* Whether the guest's memory can be had while it runs, and it does. On error one line in err. */
int collect_can_open(struct trace *t, char *err, size_t errlen);
/*
 * Take everything away again; all probes have been removed. Records that were made are in the ring
 * buffers then. Of a guest that is gone only the host's side is freed. On error (one line in err)
 * the window stays in the guest, for a later tracer to take away.
 */
int collect_close(struct trace *t, bool guest_gone, char *err, size_t errlen);

/* Collect what one vCPU has recorded so far; t->vcpu_lock[vcpu] is held. */
void collect_drain(struct trace *t, unsigned int vcpu);
/* Have readers get what there is now; the locks of all are held. */
void collect_catch_up(struct trace *t);
/*
 * The stack of the event with this number, which is not complete yet and whose vCPU stands: sp is
 * where the address is that the function returns to by which it is committed. The vCPU's lock is
 * held.
 */
void collect_event_stack(struct trace *t, unsigned int vcpu, uint32_t seq, uint64_t sp,
			 uint64_t bp);
/* What has been collected so far, or had been when it was closed. */
void collect_get_counts(struct trace *t, struct collect_counts *counts);
void collect_get_vcpu_counts(struct trace *t, unsigned int vcpu, struct collect_counts *counts);

#endif
