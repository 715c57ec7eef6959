/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * instance.h - what an instance of a trace is, for the files of tracer/.
 *
 * What a record's way depends on (below "writers") changes only with trace_writers_stop(): a
 * trap's handler and the collector hold the vCPU's lock while they look at it, and need no other.
 */
#ifndef HVTRACE_TRACER_INSTANCE_INSTANCE_H
#define HVTRACE_TRACER_INSTANCE_INSTANCE_H

#include "tracer/core/trace.h"
#include "tracer/events/events.h"
#include "tracer/filter/func-filter.h"
#include "tracer/filter/pid-filter.h"
#include "tracer/graph/call-log.h"
#include "tracer/graph/filter.h"
#include "tracer/instance/files.h"
#include "tracer/instance/tracer-ops.h"
#include "tracer/lib/error-log.h"
#include "tracer/output/output.h"
#include "tracer/ring/horizon.h"
#include "tracer/ring/repeats.h"

#define INSTANCE_NAME_MAX 64

/* What waits until its vCPU's lock is not held: record_do_deferred(). */
enum instance_deferred {
	DEFERRED_ON_OFF = 1 << 0, /* it has been turned on or off: the payload is to know */
	DEFERRED_SNAPSHOT = 1 << 1,
};

/* Why what it collects is brought into the order of all vCPUs: order.h */
enum order_reason {
	ORDER_HISTS = 1 << 0,	 /* variables of histograms */
	ORDER_TRIGGERS = 1 << 1, /* they switch something, or take a snapshot, */
	ORDER_COMMANDS = 1 << 2, /* and so do commands on functions */
	ORDER_CLOCK = 1 << 3,	 /* it counts */
	/* One of these may turn recording on: the guest records also while it is off. */
	ORDER_TRIGGER_ON = 1 << 4,
	ORDER_COMMAND_ON = 1 << 5,
	ORDER_TRACER = 1 << 6, /* tracer_ops.ordered */
};

struct instance {
	struct trace *t;
	struct instance *next;
	char name[INSTANCE_NAME_MAX]; /* "": the top level */
	unsigned int holders;	      /* t->instances_lock */

	/* Changed with all writers stopped; who only shows it looks without a lock. */
	atomic_bool on;
	_Atomic uint64_t until; /* and no later than that TSC; UINT64_MAX: there is no end yet */
	_Atomic uint64_t cpumask;
	const struct tracer_ops *_Atomic tracer;
	void *tracer_data; /* tracer_ops.init() */
	uint32_t tracer_events[TRACER_EVENTS_MAX];
	uint32_t nr_takes;			 /* functions that the filter selects */
	uint32_t tracer_calls[TRACER_CALLS_MAX]; /* indexes of probes, in the order of its ops */
	const struct clock_ops *_Atomic clock;
	struct ring *ring[MACHINE_MAX_VCPUS];
	struct ring *spare[MACHINE_MAX_VCPUS]; /* the snapshot's, once there was one */
	atomic_bool snapshot;
	_Atomic uint64_t time_start; /* by its clock: when its buffers were last all cleared */
	bool filtered;		     /* its filters leave functions out */
	bool all;		     /* it takes every function that is recorded at all */
	uint8_t *takes;		     /* a bit for each probe, by its index: the filters select it */
	uint8_t *commands;	     /* likewise: there is a command for it */
	size_t room;		     /* probes that have bits */
	struct event_state *events;  /* of each event that there is, or NULL: none is on */
	unsigned int nr_events_on;   /* or wanted for what they set off */
	struct instance_triggers *triggers;   /* NULL: there has been none */
	struct event_triggers *mark_triggers; /* of ftrace:print; likewise */
	atomic_uint deferred;		      /* enum instance_deferred */
	struct instance_order *order;	      /* what waits for its turn; NULL: nothing has to */
	atomic_uint ordered_for;	      /* enum order_reason */
	bool in_order; /* what comes now is the turn of; the locks of all vCPUs are held */
	struct graph_filter graph; /* for function_graph */
	struct horizon horizon;
	struct repeats repeats[MACHINE_MAX_VCPUS];

	_Atomic uint32_t options, function_options, graph_options, nop_options, blk_options;
	_Atomic uint64_t max_latency; /* ns */
	/* Of a tracer that looks for it: max.h; the lock of vCPU 0 */
	struct output_latency max;
	uint64_t max_start;
	bool max_incomplete;	/* the guest has not been asked about the task */
	struct call_log *calls; /* while its trace is a graph with functions: for the next one */
	uint32_t max_saved;	/* options, before there was such a tracer */
	atomic_uint percent;	/* buffer_percent */
	struct func_owner owner;
	struct func_filter *functions;
	struct pid_filter pids;
	struct pid_filter event_pids;
	struct error_log *errors;
};

/*
 * Of i->ring or i->spare. A snapshot swaps them, and may have made the spare one just now, while
 * others look without a lock; both live as long as the instance.
 */
static inline struct ring *ring_now(struct ring *const *rings, unsigned int v)
{
	return __atomic_load_n(&rings[v], __ATOMIC_ACQUIRE);
}

/* All of them. */
static inline void rings_now(struct ring *const *rings, struct ring *to[MACHINE_MAX_VCPUS])
{
	for (unsigned int v = 0; v < MACHINE_MAX_VCPUS; v++)
		to[v] = ring_now(rings, v);
}

/* How far the events of all vCPUs can be merged: read.c. */
uint64_t instance_horizon(const struct instance *i);

/* Of tasks is noted: OUTPUT_RECORD_CMD, the top level's, OUTPUT_RECORD_TGID, of any instance. */
static inline uint32_t instances_note(const struct trace *t)
{
	uint32_t what = t->instances->options & OUTPUT_RECORD_CMD;

	for (const struct instance *i = t->instances; i; i = i->next)
		what |= i->options & OUTPUT_RECORD_TGID;
	return what;
}

static inline void instances_note_task(struct trace *t, const struct guest_state *st)
{
	uint32_t what = instances_note(t);

	comms_note(t->comms, st->pid, what & OUTPUT_RECORD_TGID ? st->tgid : 0,
		   what & OUTPUT_RECORD_CMD ? st->comm : NULL);
}

/* An option of the function tracer, while that is the tracer. */
static inline bool instance_function_option(const struct instance *i, uint32_t flag)
{
	return i->tracer->own_options && i->function_options & flag;
}

/* The function profiler is the top level's. */
static inline bool instance_profiles(const struct instance *i)
{
	return i->t->profiling && i == i->t->instances;
}

/* The tracer of a latency wants the functions within it as long as options/function-trace is on. */
static inline bool instance_traces_functions(const struct instance *i)
{
	return i->tracer->functions || (i->tracer->max && i->options & OUTPUT_FUNCTION_TRACE);
}

/* The same at that time of the guest's. */
static inline bool instance_is_on_at(const struct instance *i, uint64_t tsc)
{
	return i->on && tsc <= atomic_load_explicit(&i->until, memory_order_relaxed);
}

/* What is recorded now may be kept: by the time of it recording may be on. */
static inline bool instance_collects(const struct instance *i)
{
	return i->on || (i->ordered_for & (ORDER_TRIGGER_ON | ORDER_COMMAND_ON) &&
			 atomic_load(&i->t->collecting));
}

/* It, or its profiler, wants the calls of the functions that its filters select, or their returns.
 */
static inline bool instance_wants_calls(const struct instance *i)
{
	return instance_traces_functions(i) || instance_profiles(i);
}

/* Calls and returns of all vCPUs are paired as they come: record/graph.h */
static inline bool instance_pairs_calls(const struct instance *i)
{
	return i->tracer->exits || instance_profiles(i);
}

/* The trace of a latency is a graph of calls. */
static inline bool instance_shows_graph(const struct instance *i)
{
	return i->tracer->max && i->options & OUTPUT_DISPLAY_GRAPH;
}

static inline bool instance_wants_exits(const struct instance *i)
{
	return instance_pairs_calls(i) || (instance_shows_graph(i) && instance_traces_functions(i));
}

/* Of these options: the trace of a latency is a graph, of functions. */
bool instance_options_ask_graph(uint32_t options);
/* How functions return is not known (yet) of the guest. */
bool instance_lacks_exits(const struct instance *i);

static inline void instance_defer(struct instance *i, enum instance_deferred what)
{
	atomic_fetch_or(&i->deferred, what);
	atomic_store(&i->t->deferred, true);
}

/*
 * Where the pointer to the instance of that name is, which is not the top level, or would be;
 * t->instances_lock is held.
 */
struct instance **instance_place(struct trace *t, const char *name);

static inline bool instance_bit(const uint8_t *bits, size_t room, uint32_t probe)
{
	return probe < room && bits[probe / 8] >> (probe & 7) & 1;
}

/* Whether it wants the calls of this probe's function; the vCPU's lock is held. */
static inline bool instance_takes(const struct instance *i, unsigned int vcpu, uint32_t probe)
{
	return instance_collects(i) && instance_traces_functions(i) && i->cpumask >> vcpu & 1 &&
	       (i->all || instance_bit(i->takes, i->room, probe));
}

/* Its tracer has traps at the functions that the filter selects, and these are few enough. */
static inline bool instance_stops_calls(const struct instance *i)
{
	return i->tracer->entered && i->nr_takes <= TRACER_FEW;
}

/* Tell the user if they are not. */
void instance_tell_few(struct instance *i);

/*
 * The vCPU stands at the hit, or waits there; its lock is held. of_call: if the call that was taken
 * before is recorded.
 */
void instance_record_stack(struct instance *i, const struct machine_hit *hit, bool of_call);

/* func_owner.stacktrace */
void instance_stacktrace(void *arg, const struct func_hit *hit);

/* The time of its clock, as far as it can be told. */
static inline uint64_t instance_now(struct instance *i, unsigned int vcpu)
{
	return clock_now(i->t, i->clock, vcpu);
}

/* With all writers stopped, behind record_drain_all(): what has been recorded by now goes, too. */
void instance_clear_stopped(struct instance *i, int vcpu);
void instance_snapshot_stopped(struct instance *i, int vcpu);
/* The same here and now, if one has been left for record_do_deferred(). */
void instance_snapshot_due(struct instance *i);

/* How it is printed now. */
void instance_output_config(struct instance *i, struct output_config *cfg);

/* The record that the payload would have made of a hit at a call, or at a return. */
void instance_hit_record(struct trace *t, const struct machine_hit *hit, bool is_exit,
			 struct payload_record *r);

#endif
