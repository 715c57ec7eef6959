/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * prints.h - what the guest writes into its own trace: trace_printk(), trace_puts(),
 * trace_marker and trace_marker_raw. The payload copies it (payload/print.S), and it becomes part
 * of the top level's trace; the guest's own has it as ever. Where probes are traps the host copies
 * it, once something else has opened the window.
 */
#ifndef HVTRACE_TRACER_TRACEPOINT_PRINTS_H
#define HVTRACE_TRACER_TRACEPOINT_PRINTS_H

#include <stdbool.h>
#include <stdint.h>

struct instance;
struct machine_hit;
struct payload_record;
struct trace;

/* In struct trace; changed with the lock of its events held. */
struct guest_prints {
	/* What the guest's kernel calls TRACE_PRINT, _BPRINT, _BPUTS, _RAW_DATA */
	uint32_t type[4];
	_Atomic bool placed; /* the payload sees them */
	bool trapped;	     /* and tells the host by a trap */
};

/* In the place of an event's index, of such a record: it is of no event that can be enabled. */
#define EVENT_OF_GUEST_PRINT (UINT32_MAX - 1)

/*
 * From now on; the machine runs. One line is noted where that is not possible, unless it is a
 * kernel without a trace of its own.
 */
void guest_prints_place(struct trace *t);
/* The same with the lock of events held. */
void guest_prints_place_held(struct trace *t);
/* The guest does not come by there any more; likewise. 0 or the machine's error. */
int guest_prints_remove(struct trace *t);
/* A trap was hit, on the vCPU's thread. False: it is none of these. */
bool guest_prints_hit(struct trace *t, const struct machine_hit *hit);
/* Address of the pointer to the guest's own ring buffer, PAYLOAD_NONE: it is not known. */
uint64_t guest_prints_buffer(const struct trace *t);

/* A bit for each of the guest's types that the instance takes; 0: none. */
uint32_t guest_prints_taken(const struct instance *i);
/*
 * A record of vCPU `vcpu`, its data as the guest has written it, into the instance's ring. The
 * vCPU's lock is held.
 */
void guest_prints_collect(struct instance *i, unsigned int vcpu, const struct payload_record *r,
			  const void *data, uint64_t ts);

#endif
