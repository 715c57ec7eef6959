/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * record.h - what all instances together want of the guest, and a hit or batch shared out among
 * them.
 */
#ifndef HVTRACE_TRACER_RECORD_RECORD_H
#define HVTRACE_TRACER_RECORD_RECORD_H

#include "tracer/instance/instance.h"
#include "tracer/record/files.h"

struct event_ring;
struct payload_record;

/*
 * The functions that can be named have changed, or were not known before (the kernel's, or modules
 * have come or gone): have all filters settle on those. t->change is held, the machine is paused.
 */
int selection_update(struct trace *t);
/* What some filter asks for has become or ceased to be wanted: patch accordingly. As above. */
int selection_patch(struct trace *t);
/* struct func_owner.apply */
int selection_apply(void *arg, const struct func_selection *sel);
/*
 * Have the filter of the top level ask for what the configuration names; before anything is
 * patched. Every name must match something, and something be left to trace: else one line in err.
 */
int selection_configure(struct trace *t, char *err, size_t errlen);
void selection_free(struct trace *t);

/* What the payload itself may leave out (CTL_FLAGS) follows from all instances. */
void payload_control(struct trace *t);

/* What it records has changed: patch the guest. With trace.change not held. 0 or -errno. */
int instance_repatch(struct instance *i);
/* What all vCPUs have recorded up to now, to the ring buffers; the locks of all are held. */
void record_drain_all(struct trace *t);
/* The same, but what waits for others' records goes on waiting: whether it is wanted is settled. */
void record_drain_vcpus(struct trace *t);
/*
 * A command of an instance's acts at that TSC: what was recorded by then comes before it, and what
 * was recorded later, on whatever vCPU, waits until it has been released. No lock is held. False:
 * there is no such command, and nothing to be released.
 */
bool record_hold(struct trace *t, uint64_t tsc);
void record_release(struct trace *t);
/* Calls that are under way are not to be continued; but the profiler's go on. Likewise. */
void record_forget_calls(struct trace *t);
/* Recording goes on or off here and now; the locks of all vCPUs are held, then record_turned(). */
void record_turn(struct instance *i, bool on);
/* It has been, and no lock is held. */
void record_turned(struct instance *i);
/* What triggers and tracers have left to be done while no lock is held: do it. */
void record_do_deferred(struct trace *t);

/* A site where interrupts go off or on was hit (PROBE_FL_FLAG); on the vCPU's thread. */
void record_flag_hit(struct trace *t, const struct machine_hit *hit);

/* struct collector_ops; see there. */
void record_batch(struct trace *t, unsigned int vcpu, const struct payload_record *r, size_t n,
		  struct event_ring *er, bool lost);
void record_lost(struct trace *t, unsigned int vcpu);
size_t record_room(const struct trace *t, unsigned int vcpu, size_t n);
bool record_merges(const struct trace *t);
bool record_merge(struct trace *t, size_t max, uint64_t held);
void record_pass(struct trace *t, uint64_t behind, bool merged);
void record_end(struct trace *t);
bool record_user_stacks(const struct trace *t);

#endif
