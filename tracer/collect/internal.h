/* SPDX-License-Identifier: GPL-2.0-or-later */
/* internal.h - what the files of the collector share. */
#ifndef HVTRACE_TRACER_COLLECT_INTERNAL_H
#define HVTRACE_TRACER_COLLECT_INTERNAL_H

#include <errno.h>
#include <pthread.h>

#include "tracer/collect/collect.h"
#include "tracer/core/trace.h"
#include "tracer/payload/event-ring.h"
#include "tracer/payload/record.h"
#include "tracer/payload/staging.h"
#include "tracer/window/window.h"

/* Calls that a vCPU has made in interrupts within a period. */
struct interrupt_waits {
	int64_t since_ms;
	unsigned int nr;
	bool over; /* it makes no more: CTL_NO_WAIT */
};

struct collector {
	struct trace *t;
	const struct collector_ops *ops;
	struct window *w;
	struct staging staging[MACHINE_MAX_VCPUS];   /* of each: t->vcpu_lock */
	struct event_ring events[MACHINE_MAX_VCPUS]; /* likewise */
	uint64_t lost[MACHINE_MAX_VCPUS];	     /* as seen last */
	uint32_t vain[MACHINE_MAX_VCPUS];	     /* likewise */
	bool jumped[MACHINE_MAX_VCPUS];		     /* its head has, which is told once */
	uint64_t due;			      /* a bit for each vCPU: this pass has not had it */
	uint64_t behind;		      /* likewise: ring/horizon.h */
	uint64_t held;			      /* likewise: what it has recorded waits for room */
	int64_t behind_ms[MACHINE_MAX_VCPUS]; /* since when; 0: it is not */
	int64_t behind_max_ms;		      /* how long it is waited for */
	unsigned int unmerged;		      /* passes */
	bool busy;			      /* the latest pass had much to collect */
	bool unwritten;			      /* more than the latest pass could write */
	struct interrupt_waits interrupts[MACHINE_MAX_VCPUS];
	pthread_t thread;
	bool started;
	bool direct; /* the guest's memory can be read without stopping it */
	pthread_mutex_t lock;
	pthread_cond_t change;
	bool stop; /* lock */
};

static inline uint64_t ctl_at(unsigned int vcpu, unsigned int member)
{
	return WINDOW_CTL + vcpu * CTL_SIZE + member;
}

static inline void ctl_put(struct collector *c, unsigned int vcpu, unsigned int member,
			   uint32_t value)
{
	int ret = window_write(c->w, ctl_at(vcpu, member), &value, sizeof(value));

	/* Of a guest that has gone it is another one than of one that lies. */
	if (ret)
		trace_fail(c->t, ret);
}

/* The window's control blocks are set up. 0 or -errno. */
int collector_start(struct collector **to, struct trace *t, struct window *w,
		    const struct collector_ops *ops);
/* Records are made by hits: it may be long before one that has been begun is complete. */
void collector_be_patient(struct collector *c);
/*
 * Move what there is of one vCPU now, so that a record made by other means comes behind it.
 * Called with t->vcpu_lock[vcpu] held.
 */
void collector_drain(struct collector *c, unsigned int vcpu);
/* Have the horizon (ring/horizon.h) come up to what there is now. The locks of all vCPUs are held.
 */
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
void collector_get_counts(const struct collector *c, unsigned int vcpu,
			  struct collect_counts *counts);

/*
 * Whether the vCPU waits for an answer. Says so, too, when it has lost its patience since the last
 * time: it has gone on without what it had asked for.
 */
bool call_waits(struct collector *c, unsigned int vcpu);
/* Answer it; no lock is held. */
void call_serve(struct collector *c, unsigned int vcpu);
/* Interrupts of this vCPU may make calls again, if their time has come. */
void interrupts_may_wait(struct collector *c, unsigned int vcpu);

#endif
