/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * event-ring.h - the host's end of one vCPU's ring of event data: what the records of a batch stand
 * for is copied at once, as far as the guest has not overwritten it yet.
 */
#ifndef HVTRACE_TRACER_PAYLOAD_EVENT_RING_H
#define HVTRACE_TRACER_PAYLOAD_EVENT_RING_H

#include "tracer/payload/record.h"
#include "tracer/payload/staging.h"

#define EVENT_STACK_DEPTH 64
#define EVENT_STACKS	  16 /* more than can wait: a task's, softirq's, interrupt's and NMI's */

#define EVENT_USER_STACK_DEPTH 8

/* What the stack was when a record was about to be complete. */
struct event_stack {
	uint32_t seq; /* the record's number */
	unsigned int n;
	uint64_t ip[EVENT_STACK_DEPTH]; /* innermost first */
	/* Of the task's user mode, if that was looked at: zeros behind its last address. */
	bool has_user;
	uint32_t tgid;
	uint64_t user_ip[EVENT_USER_STACK_DEPTH];
};

struct event_ring {
	struct staging_io io;
	uint64_t ctl, ring; /* offsets in the window */
	uint64_t size;	    /* bytes, a power of two */
	uint64_t from, to;  /* places (as CTL_EVENT_HEAD counts them) that have been copied */
	uint64_t lost;	    /* events whose data could not be had */
	uint64_t copied;    /* bytes, in all */
	uint8_t *copy;	    /* of the ring */
	struct event_stack stack[EVENT_STACKS];
	unsigned int next_stack;
};

/* Where a vCPU's ring is in a window with this header: behind the staging rings. */
uint64_t event_ring_at(const struct payload_header *h, unsigned int vcpu);
/* ring: where it is in the window. 0 or -ENOMEM. */
int event_ring_init(struct event_ring *er, const struct staging_io *io, unsigned int vcpu,
		    uint64_t ring, uint32_t size);
void event_ring_exit(struct event_ring *er);

/* Copy what n records stand for. 0 or an error of the machine's; then nothing has been copied. */
int event_ring_load(struct event_ring *er, const struct payload_record *r, size_t n);
/*
 * The bytes of one of these records, r->event_len of them, until the next load; the guest may have
 * put anything there. NULL: they are lost, or have never been.
 */
const void *event_ring_data(const struct event_ring *er, const struct payload_record *r);

/*
 * What these records stand for has been taken: tell the guest, which waits for that when it may not
 * lose any (struct payload_config, full_timeout). 0 or an error of the machine's.
 */
int event_ring_taken(struct event_ring *er, const struct payload_record *r, size_t n);

/* Of the record with this number, to be filled in; forgets the one that is the oldest. */
struct event_stack *event_ring_add_stack(struct event_ring *er, uint32_t seq);
/* NULL: it has none. */
const struct event_stack *event_ring_stack(const struct event_ring *er,
					   const struct payload_record *r);

/* Offset from WINDOW_EVENT_FILES of the file of an event. */
static inline uint32_t record_event_file(const struct payload_record *r)
{
	return r->event_file & ~1u;
}

static inline bool record_is_event(const struct payload_record *r)
{
	return record_type(r) == PAYLOAD_EVENT;
}

static inline bool record_is_window_end(const struct payload_record *r)
{
	return record_type(r) == PAYLOAD_IRQS_ON || record_type(r) == PAYLOAD_PREEMPT_ON;
}

/* Whether an event or a window's end has said that there is a copy of its stack. */
bool record_has_copy(const struct payload_record *r);
/*
 * The copy of the stack behind the data of one of these records, in *stack; as event_ring_data().
 * False: there is none.
 */
bool event_ring_copy(const struct event_ring *er, const struct payload_record *r,
		     struct payload_stack *stack);

#endif
