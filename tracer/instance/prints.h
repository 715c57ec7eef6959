/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * prints.h - what the guest writes into its own trace (tracepoint/prints.h), in that of an
 * instance.
 */
#ifndef HVTRACE_TRACER_INSTANCE_PRINTS_H
#define HVTRACE_TRACER_INSTANCE_PRINTS_H

#include <stdbool.h>
#include <stdint.h>

struct event_stack;
struct instance;
struct payload_record;

#define GUEST_PRINT_KINDS 4

/* Changed with the lock of its events held. */
struct guest_prints {
	/* What the guest's kernel calls TRACE_PRINT, _BPRINT, _BPUTS, _RAW_DATA */
	uint32_t type[GUEST_PRINT_KINDS];
	_Atomic bool placed; /* the payload sees them */
	bool trapped;	     /* and tells the host by a trap */
};

/* In the place of an event's index, of such a record: it is of no event that can be enabled. */
#define EVENT_OF_GUEST_PRINT (UINT32_MAX - 1)

/* The kernel's own struct trace_event_call of kind k, which says how it is numbered. */
const char *guest_print_call(unsigned int k);
/* A bit for each of the guest's types that the instance takes; 0: none. */
uint32_t guest_prints_taken(const struct instance *i);
/* Whether it looks at the stacks of who writes. */
bool guest_prints_want_stacks(const struct instance *i);
/*
 * A record of vCPU `vcpu`, its data as the guest has written it, into the instance's ring, and its
 * stack (NULL: nobody has looked at it). The vCPU's lock is held.
 */
void guest_prints_collect(struct instance *i, unsigned int vcpu, const struct payload_record *r,
			  const void *data, const struct event_stack *stack, uint64_t ts);

#endif
