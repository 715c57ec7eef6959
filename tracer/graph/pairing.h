/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pairing.h - which entry does an exit belong to?
 *
 * Records of entries and exits carry the place of the return address on the stack. An exit at that
 * place ends every call of the same stack that was entered there or deeper: so the call itself, the
 * functions that it has ended by jumping to (they share the place), and calls whose own exit had no
 * probe. As in the kernel (current->ret_stack), the open calls of a task are one stack, those of
 * interrupts that came upon it included.
 *
 * Records come in the order in which a task has made them; tasks may move between vCPUs. The guest
 * is not trusted: whatever the records say, memory is bounded.
 */
#ifndef HVTRACE_TRACER_GRAPH_PAIRING_H
#define HVTRACE_TRACER_GRAPH_PAIRING_H

#include <stdbool.h>
#include <stdint.h>

#include "tracer/payload/payload.h"
#include "vmm/machine.h"

#define PAIRING_DEPTH 50   /* FTRACE_RETFUNC_DEPTH: calls that are deeper are only counted */
#define PAIRING_TASKS 4096 /* whose calls are remembered: those that were seen last */

struct pairing;

/* An open call. */
struct pairing_call {
	uint64_t tsc;
	uint64_t time, inner; /* the consumer's */
	uint32_t ip, parent, sp;
	uint32_t stack; /* which one sp is in */
	uint8_t level;	/* 0: on the task's stack, 1: on an interrupt's, above: in an NMI */
	uint8_t flags;	/* the consumer's */
	uint16_t depth; /* how many calls there are around it */
};

enum pairing_verdict {
	PAIRING_IGNORE, /* as if it had not been: its exit is not looked for */
	PAIRING_KEEP,
};

struct pairing_ops {
	/* A call; `outer` is the open one around it, or NULL. May set call->time and ->flags. */
	enum pairing_verdict (*entry)(void *arg, unsigned int vcpu, const struct payload_record *r,
				      struct pairing_call *call, const struct pairing_call *outer);
	/*
	 * The end of a call that was kept, told by r: its exit or, for one without, what shows that
	 * it is over. `outer` is the open one around it, or NULL; `overrun`: calls of this task
	 * that were too deep.
	 */
	void (*exit)(void *arg, unsigned int vcpu, const struct payload_record *r,
		     const struct pairing_call *call, struct pairing_call *outer, uint32_t overrun);
	/*
	 * r shows that the task runs again, and that it did not since the TSC `left`; these are all
	 * its open calls. Optional.
	 */
	void (*slept)(void *arg, unsigned int vcpu, const struct payload_record *r, uint64_t left,
		      struct pairing_call *calls, unsigned int nr);
};

/* Where the kernel has its stacks, as far as that is known. */
struct pairing_stacks {
	uint32_t thread_size;		       /* a power of two, and what they are aligned to */
	uint32_t irq_size;		       /* 0: nothing is known of the interrupts' stacks */
	uint32_t irq_start[MACHINE_MAX_VCPUS]; /* of each vCPU's; low halves */
	unsigned int nr_irq;
};

struct pairing_counts {
	uint64_t calls;	    /* that were kept: all of them are one of these three: */
	uint64_t ended;	    /* and were told */
	uint64_t open;	    /* now */
	uint64_t pairs;	    /* exits that have ended a call */
	uint64_t unmatched; /* exits of calls that were not kept, or not seen */
	uint64_t late;	    /* calls that ended without an exit of their own */
	uint64_t dropped;   /* given up: losses, tasks that are no more */
	uint64_t tasks;	    /* remembered now */
};

/* NULL: no memory. ops outlives it. */
struct pairing *pairing_new(const struct pairing_ops *ops, void *arg);
void pairing_free(struct pairing *p); /* NULL is allowed */

/* Where they are is known from now on, of the calls that are open as well. */
void pairing_set_stacks(struct pairing *p, const struct pairing_stacks *stacks);
/* The next record: PAYLOAD_FUNCTION or PAYLOAD_EXIT; others are left alone. */
void pairing_record(struct pairing *p, unsigned int vcpu, const struct payload_record *r);
/* Records are missing here: of no open call it is known whether it still is. */
void pairing_lost(struct pairing *p);
/*
 * Some of this vCPU's are missing, from here up to where it is told again with `begins` false.
 * Any task may run there meanwhile, so other vCPUs' records cannot be trusted either: none counts.
 */
void pairing_gap(struct pairing *p, unsigned int vcpu, bool begins);
void pairing_get_counts(const struct pairing *p, struct pairing_counts *counts);

#endif
