/* SPDX-License-Identifier: GPL-2.0-or-later */
/* trace.h - the trace, and what every room above asks of it: notes, locks, waiting, names. */
#ifndef HVTRACE_TRACER_CORE_TRACE_H
#define HVTRACE_TRACER_CORE_TRACE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tracer/borrow/borrow.h"
#include "tracer/core/clock.h"
#include "tracer/core/config.h"
#include "tracer/core/probes.h"
#include "tracer/guest/comms.h"
#include "tracer/guest/guest.h"
#include "tracer/guest/site.h"
#include "tracer/guest/user.h"
#include "tracer/payload/critical.h"
#include "tracer/ring/ring.h"

struct boot;
struct event_traps;
struct follow;
struct func_filter;
struct guest_prints;
struct hwlat_settings;
struct module_list;
struct output_symbol;
struct unwind;
struct collector;
struct collector_ops;
struct trampoline;
struct window;
struct instance;
struct funcs;
struct returns;
struct graph;
struct profile;
struct latency_table;
struct stack_max;
struct events;
struct dyn_event;
struct event_probes;
struct probe_events;
struct synth_events;
struct flag_sites;

/* The sites are given back while the guest patches its own text; see text-lock.c */
struct text_lock {
	uint64_t mutex, owner; /* run-time address of text_mutex, and of its owner word; 0 */
	_Atomic enum text_lock_state {
		TEXT_LOCK_OURS,	   /* the sites are */
		TEXT_LOCK_AWAY,	   /* they are the guest's now */
		TEXT_LOCK_WATCHED, /* so they are, but the call that tells of it is in place */
	} state;		   /* t->change, but for a glance */
	/* Since when; since when has the mutex been free, and has it been watched */
	int64_t state_ms, free_ms, watch_ms;
};

/* Records collected from the guest; see probe/trampoline/trampoline.h */
struct trampoline_counts {
	uint64_t made; /* by the guest's own count */
	uint64_t taken, lost, corrupt;
};

/* An attached guest's clock as it was seen to go: reset.c. The session's thread only */
struct guest_pulse {
	uint64_t jiffies;
	int64_t looked_ms;  /* when that was */
	unsigned int looks; /* in a row that found no guest */
	bool gone;
};

struct trace {
	struct machine *m;
	const struct guestsym *gs;
	struct trace_config cfg;
	struct module_list *modules;	    /* the latest reading of the guest's, and older ones */
	struct instance *instances;	    /* the top level first */
	pthread_mutex_t instances_lock;	    /* the list, and who holds which; taken within change */
	struct funcs *funcs;		    /* that can be named; and which probe each one's is */
	struct func_filter *more_functions; /* that is of no instance; NULL: there is none */
	uint32_t *func_probe;
	const struct probe_ops *engine;
	struct guest_kernel guest;
	struct guest_pulse pulse;
	struct probe_set probes;
	struct returns *returns; /* how functions return, and where */
	struct flag_sites *flag_sites;
	struct critical critical[MACHINE_MAX_VCPUS]; /* of each: its lock */
	struct graph *graph;			     /* the calls that are under way */
	/* The function profiler's, once it was on; with all writers stopped */
	struct profile *profile[MACHINE_MAX_VCPUS];
	atomic_bool profiling;
	/* The windows of tracers of latencies, once they were kept: likewise; and whose they are */
	struct latency_table *latencies;
	const struct tracer_ops *latency_tracer;
	atomic_bool latency_on;
	struct stack_max *stack_max;	   /* the stack tracer */
	struct events *trace_events;	   /* of the guest's kernel */
	struct probe_events *probe_events; /* and those that are made here */
	struct synth_events *synth_events;
	struct event_probes *event_probes;
	struct dyn_event *dyn_events; /* all of these, in their order; with the events' lock held */
	struct event_traps *event_traps; /* where its probes exit to the host */
	struct guest_prints *prints;	 /* and what the guest writes into its own trace */
	uint64_t fentry;		 /* address of the kernel's __fentry__ */
	/* While a guarded function runs at whose end there is something to do: where a trap waits
	 * for that (0: none), and what it stands for. */
	uint64_t guard_return;
	uint16_t guard_returned;
	struct comms *_Atomic comms; /* who reads names takes no lock */
	unsigned int vcpus;
	/* Held by whoever writes a ring: a trap's handler, or the collector. */
	pthread_mutex_t vcpu_lock[MACHINE_MAX_VCPUS];
	/* Changes of what is patched; taken with the machine paused, by one thread several times.
	 */
	pthread_mutex_t change;
	bool placed;		    /* change: probes are in the guest as soon as they are wanted */
	bool detached;		    /* change: the guest is not asked for anything any more */
	bool held;		    /* change: functions are not in the guest yet: boot.h */
	struct text_lock text_lock; /* change */
	struct follow *follow;
	struct user_layout user;
	struct borrow *borrow;	     /* once the guest can be asked for something */
	struct boot *boot;	     /* while more is expected of a kernel that boots */
	bool late_came;		     /* boot_tell_missing(): by the boot's thread */
	uint64_t calls_since;	     /* local time at which a boot went over to them; 0 */
	atomic_bool booted;	     /* the kernel has freed its init memory */
	struct trampoline *tramp;    /* while it is open */
	uint32_t depth;		     /* trampoline_set_depth(), or 0; its callers' lock */
	struct collector *collector; /* likewise */
	const struct collector_ops *collector_ops;
	struct trampoline_counts collected; /* by one that has been closed */
	atomic_bool collecting;		    /* events come from staging rings: ring/horizon.h */
	atomic_bool deferred;		    /* some instance's triggers have left something to do */
	/* The guest's TSC when it was seen last, and the host's CLOCK_MONOTONIC then. */
	_Atomic uint64_t seen_tsc, seen_ns;
	/* Readers that wait for events. */
	pthread_mutex_t wait_lock;
	pthread_cond_t wait_change;
	atomic_uint waiting;
	struct unwind *unwind;	  /* for stack traces, once one was asked for */
	atomic_bool unwind_ready; /* it is as it will be */
	_Atomic uint64_t thresh;  /* tracing_thresh, ns */
	struct hwlat_settings *hwlat;
	bool has_touched;	/* the guest's own tracefs has touched_functions */
	struct comms **retired; /* tables of task names that readers may still look into */
	size_t nr_retired;
	/* Site recorded last, for progress displays. */
	_Atomic uint64_t at_ip[MACHINE_MAX_VCPUS];
	uint64_t max_events; /* UINT64_MAX: no limit */
	_Atomic uint64_t events;
	_Atomic uint64_t ticks; /* of the counter clock */
	atomic_bool done;
	atomic_int error; /* what has gone wrong first: trace_fail(); 0 */
};

/* --- what it tells the user ------------------------------------------------------------------ */

/* One line about how the trace is done, without a line end; any thread. */
void trace_note(struct trace *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Recording is over: tell whoever waits for the machine. */
void trace_finish(struct trace *t);
/*
 * It is over because of an error (-errno), which trace_detach() gives. When the guest has gone the
 * machine's end is waited for.
 */
void trace_fail(struct trace *t, int error);
/* How many of n records that are about to be written may be; the last one ends the recording. */
uint64_t trace_admit(struct trace *t, uint64_t n);
/* The guest's TSC was this just now. */
void trace_seen(struct trace *t, uint64_t tsc);

/* --- locks ----------------------------------------------------------------------------------- */

/* The locks of all vCPUs: nobody writes a ring, and what a record's way depends on may change. */
void trace_writers_stop(struct trace *t);
void trace_writers_go(struct trace *t);
/* Within it no guest memory is patched, and no instance is made or removed: the machine stands. */
void trace_change_begin(struct trace *t);
void trace_change_end(struct trace *t);

/* --- waiting --------------------------------------------------------------------------------- */

/* Whoever waits for events may look again. */
void trace_wake(struct trace *t);
/*
 * Until there() says yes; it is asked again after each trace_wake(). False: it has not by
 * timeout_ms.
 */
bool trace_wait(struct trace *t, bool (*there)(void *arg), void *arg, int timeout_ms);

/* --- names and stacks ------------------------------------------------------------------------ */

/* Run-time address of a symbol of the kernel's, 0: it has none. */
uint64_t trace_runtime(const struct trace *t, const char *symbol);
/* struct output_config.symbol; arg is the trace. */
bool trace_find_symbol(void *arg, uint64_t addr, struct output_symbol *sym);
/*
 * "name+0xoffset/0xsize [module]", or the address: how long it is, cut to size bytes with its end.
 */
size_t trace_print_symbol(struct trace *t, uint64_t addr, char *buf, size_t size);
/*
 * Have the tables for stack traces ready, which take a while to read and most traces never need.
 * Whoever calls holds no vCPU's lock.
 */
void trace_use_stacks(struct trace *t);
/* These tables; NULL while they are not ready: a stack has one function then. */
const struct unwind *trace_unwind(const struct trace *t);
/* Tell them which modules there are now. The machine is paused. */
void trace_unwind_modules(struct trace *t);

/* Probes are traps: what the payload does with trampolines is for the host to do. */
static inline bool trace_has_traps(const struct trace *t)
{
	return !t->engine->calls;
}

/* Whether the machine has a window of its own: a kernel need not be asked for memory. */
static inline bool trace_has_window(const struct trace *t)
{
	struct machine_info info;

	machine_get_info(t->m, &info);
	return info.window;
}

#endif
