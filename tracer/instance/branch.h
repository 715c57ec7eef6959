/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * branch.h - how the kernel's likely() and unlikely() come out (tracepoint/branch.h), in the trace
 * of an instance: for the tracer branch, and beside another one for the option of that name.
 */
#ifndef HVTRACE_TRACER_INSTANCE_BRANCH_H
#define HVTRACE_TRACER_INSTANCE_BRANCH_H

#include "tracer/guest/likely.h"
#include "tracer/instance/instance.h"
#include "tracer/payload/record.h"

/* In the place of an event's index, of such a record: it is of no event that can be enabled. */
#define EVENT_OF_BRANCH (UINT32_MAX - 2)

struct branch_place;

/* What is known of them; placed with the lock of the trace's events held, all else once before. */
struct guest_branches {
	bool placed; /* the payload sees them */
	struct likely_layout at;
	uint64_t first; /* run-time address of the kernel's own, of which there are n */
	size_t n;
	struct branch_place *v; /* NULL: nothing has been learnt yet */
};

static inline bool instance_wants_branches(const struct instance *i)
{
	return i->tracer->branches || i->options & OUTPUT_BRANCH;
}

/* Its vCPU's records of them are taken now. */
static inline bool instance_takes_branches(const struct instance *i, unsigned int vcpu)
{
	return instance_wants_branches(i) && instance_collects(i) && i->cpumask >> vcpu & 1;
}

bool branches_wanted(const struct trace *t); /* by any instance */
/* The names and places of the kernel's own, once. 0, -EOPNOTSUPP, -EFAULT or -ENOMEM. */
int branches_learn(struct trace *t);
void branches_free(struct guest_branches *b); /* NULL is allowed */

/* Whatever it is that this record of a PAYLOAD_BRANCH tells of. */
void branch_entry(struct trace *t, const struct payload_record *r, struct trace_branch_entry *e);
/* The entry into the instance's ring, or where it waits. The vCPU's lock is held. */
void instance_take_branch(struct instance *i, unsigned int vcpu, const struct payload_record *r,
			  const struct trace_branch_entry *branch, uint64_t ts);

#endif
