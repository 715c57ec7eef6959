/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tracer-ops.h - what a tracer is: one row in the table of tracers/tracers.h. */
#ifndef HVTRACE_TRACER_INSTANCE_TRACER_OPS_H
#define HVTRACE_TRACER_INSTANCE_TRACER_OPS_H

#include <stdbool.h>
#include <stdint.h>

#include "vmm/machine.h"

struct critical_window;
struct probe;

struct instance;
struct trace_entry;
struct event_view;

#define TRACER_EVENTS_MAX 16
#define TRACER_CALLS_MAX  4
#define TRACER_FEW	  100

struct tracer_ops {
	const char *name, *desc;
	bool top;	   /* for the top level only, whatever it works on */
	const char *needs; /* a function without which a kernel has not what it works on; or NULL */
	bool functions;	   /* wants the fentry sites that the filter selects */
	bool own_options;  /* those of options/func_* are its own */
	bool exits;	   /* and the return sites of these functions; for the top level only */
	/*
	 * A function that the instance takes was called; on the vCPU's thread, its lock held.
	 * Optional: what wants exits too gets both by record/graph.h.
	 */
	void (*hit)(struct instance *i, const struct probe *p, const struct machine_hit *hit);
	/*
	 * Trace events that it works on, "system:name", at most TRACER_EVENTS_MAX and a NULL; NULL:
	 * none. They are recorded for it as long as it is the tracer, whether or not anyone has
	 * them on. See control/tracer-events.h.
	 */
	const char *const *events;
	bool ordered; /* a record of one vCPU changes what becomes of those of others: order.h */
	uint32_t optional; /* a bit for each of them that a kernel may be without */
	uint32_t stacks;   /* a bit for each of them whose stack it wants: event_view_unwind() */
	/*
	 * Make i->tracer_data, for the events of i->tracer_events if there are some, 0 or -errno;
	 * and free it. Before it is the tracer, and when it is no more. Of one that works on events
	 * both are there, otherwise they are optional.
	 */
	int (*init)(struct instance *i, void **data, const uint32_t *events);
	void (*exit)(void *data);
	/* Forget what is under way. The locks of all vCPUs are held. */
	void (*start)(struct instance *i);
	/* A record of events[which]; the vCPU's lock is held. One vCPU's come in their order. */
	void (*event)(struct instance *i, unsigned int which, const struct event_view *v);
	/*
	 * Optional: all that was recorded before the pass of the collector's that ends now has
	 * come, but of the vCPUs whose bit is set in behind. The locks of all vCPUs are held.
	 */
	void (*pass)(struct instance *i, uint64_t behind);
	/*
	 * The windows that it works on: CRITICAL_ of payload.h. They are measured in the guest as
	 * long as it is the tracer: probe/critical/sites.h; for the top level only.
	 */
	uint32_t critical;
	/* One that was long enough to be kept: payload/critical.h; the vCPU's lock is held. */
	void (*window)(struct instance *i, const struct critical_window *w);
	/* Whether its stack is of interest, where looking at it costs the guest time. */
	bool (*wants_stack)(struct instance *i, const struct critical_window *w);
	/*
	 * Functions of the kernel at whose calls it looks itself, at most TRACER_CALLS_MAX and a
	 * NULL; NULL: none. Each has a trap while it is the tracer; for the top level only.
	 */
	const char *const *calls;
	/* One of calls[which]; the vCPU's lock is held. */
	void (*call)(struct instance *i, unsigned int which, const struct machine_hit *hit);
	/*
	 * An access to a device; the vCPU's lock is held. A machine that does not tell of them
	 * (machine_info.mmio) cannot have the tracer; for the top level only.
	 */
	void (*mmio)(struct instance *i, const struct machine_mmio *access);
	/*
	 * A function that the filter selects was called; the vCPU stands at its entry, its lock is
	 * held. These are traps, so the filter may select TRACER_FEW of them at most: else none is.
	 * For the top level only.
	 */
	void (*entered)(struct instance *i, const struct machine_hit *hit);
	/*
	 * A branch of what it has machine_follow(), or the end of that; the vCPU's lock is held.
	 * False: no more of this one.
	 */
	bool (*branch)(struct instance *i, const struct machine_branch *b);
	/* How likely() and unlikely() come out is recorded: instance/branch.h; for the top level
	 * only. */
	bool branches;
	void (*lost)(struct instance *i); /* there may have been some that nobody knows of */
	bool max;	/* looks for the longest latency: instance/max.h; for the top level only */
	uint32_t graph; /* how its trace as a graph is printed: enum output_graph_option */
};

#endif
