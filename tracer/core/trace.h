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

struct life;
struct crash;
struct event_traps;
struct follow;
struct func_filter;
struct guest_branches;
struct guest_prints;
struct blk_select;
struct hwlat_settings;
struct message_limit;
struct module_list;
struct output_symbol;
struct unwind;
struct collect;
struct trampoline;
struct window;
struct instance;
struct funcs;
struct returns;
struct graph;
struct profile;
struct latencies;
struct stack_max;
struct events;
struct dyn_event;
struct event_probes;
struct probe_events;
struct synth_events;
struct flag_sites;

/* The guest's own tracing_off() and tracing_on(): record/switch.h */
struct guest_switch {
	atomic_bool placed;	       /* they tell us */
	atomic_bool said_off, said_on; /* not yet: that they have been called */
};

/* Each of one file of core/. */
struct trace_seen;   /* clock.c */
struct trace_stacks; /* stacks.c */
struct trace_wait;   /* wait.c */

struct trace {
	struct life *life;   /* tracer/internal.h */
	struct crash *crash; /* tracer/control/crash.h */
	struct trace_seen *seen;
	struct trace_stacks *stacks;
	struct trace_wait *wait;
	struct message_limit *notes; /* tracer/lib/message-limit.h */
	struct memory_files *memory; /* NULL: buffers have no limit */
	struct machine *m;
	const struct guestsym *gs;
	struct trace_config cfg;
	struct module_list *modules;	    /* the guest's */
	struct instance *instances;	    /* the top level first */
	pthread_mutex_t instances_lock;	    /* the list, and who holds which; taken within change */
	struct funcs *funcs;		    /* that can be named; and which probe each one's is */
	struct func_filter *more_functions; /* that is of no instance; NULL: there is none */
	uint32_t *func_probe;
	const struct probe_ops *engine;
	struct guest_kernel guest;
	struct probe_set probes;
	struct probe_pieces pieces; /* change */
	struct returns *returns;    /* how functions return, and where */
	struct flag_sites *flag_sites;
	struct critical critical[MACHINE_MAX_VCPUS]; /* of each: its lock */
	struct graph *graph;			     /* the calls that are under way */
	/* The function profiler's, once it was on; with all writers stopped */
	struct profile *profile[MACHINE_MAX_VCPUS];
	atomic_bool profiling;
	struct latencies *latencies;	   /* of tracers that look for them: stat/latencies.h */
	atomic_bool latency_on;		   /* and all are kept; with all writers stopped */
	struct stack_max *stack_max;	   /* the stack tracer */
	struct events *trace_events;	   /* of the guest's kernel */
	struct probe_events *probe_events; /* and those that are made here */
	struct synth_events *synth_events;
	struct event_probes *event_probes;
	struct dyn_event *dyn_events; /* all of these, in their order; with the events' lock held */
	struct event_traps *event_traps;  /* where its probes exit to the host */
	struct guest_prints *prints;	  /* and what the guest writes into its own trace */
	struct guest_branches *branches;  /* and how its likely() and unlikely() come out */
	struct guest_switch guest_switch; /* and its tracing_off() and tracing_on() */
	uint64_t fentry;		  /* address of the kernel's __fentry__ */
	struct comms *_Atomic comms;	  /* who reads names takes no lock */
	unsigned int vcpus;		  /* with those that may be plugged in */
	atomic_uint vcpus_now;		  /* as far as is known; 0: nothing is: trace_vcpus_now() */
	/* Held by whoever writes a ring: a trap's handler, or the collector. */
	pthread_mutex_t vcpu_lock[MACHINE_MAX_VCPUS];
	/* Changes of what is patched; taken with the machine paused, by one thread several times.
	 */
	pthread_mutex_t change;
	unsigned int changes; /* change: how often its thread has it */
	bool placed;	      /* change: probes are in the guest as soon as they are wanted */
	atomic_bool leaving;  /* trace_leave(): no more probes are set */
	bool detached;	      /* change: the guest is not asked for anything any more */
	bool waits;	      /* change: a kernel that boots will have trampolines: boot.h */
	bool held;	      /* change: and functions, which are many, are not in it before that */
	atomic_bool away;     /* change, but for a glance: the sites are the guest's for now */
	struct follow *follow;
	struct user_layout user;
	struct borrow *borrow;	  /* once the guest can be asked for something */
	atomic_bool booted;	  /* the kernel has freed its init memory */
	atomic_bool patched;	  /* of one that boots: its alternative_instructions() is over */
	struct trampoline *tramp; /* while it is open */
	_Atomic uint64_t window;  /* its address as long as it is in the guest; else 0 */
	uint32_t depth;		  /* trampoline_set_depth(), or 0; its callers' lock */
	struct collect *collect;  /* collect/open.c */
	atomic_bool collecting;	  /* events come from staging rings: ring/horizon.h */
	atomic_bool deferred;	  /* some instance's triggers have left something to do */
	_Atomic uint64_t thresh;  /* tracing_thresh, ns */
	struct hwlat_settings *hwlat;
	atomic_uint branch_steps; /* hvtrace/branch_steps */
	struct blk_select *blk;	  /* changed with all writers stopped */
	/* Site recorded last, for progress displays. */
	_Atomic uint64_t at_ip[MACHINE_MAX_VCPUS];
	/* Of clocks that begin with a boot, ns: what they had come to by the boots before, and by
	 * the end of this one */
	uint64_t time_before, time_end;
	uint64_t max_events; /* UINT64_MAX: no limit */
	_Atomic uint64_t events;
	atomic_bool done;
	atomic_bool begun; /* what recording waits for has come: trace_config.from */
	atomic_int error;  /* what has gone wrong first: trace_fail(); 0 */
};

/* --- what it tells the user ------------------------------------------------------------------ */

#define NOTE_LINE_(line) #line
#define NOTE_LINE(line)	 NOTE_LINE_(line)

/*
 * One line about how the trace is done, without a line end; any thread. Each place that says
 * something does so a few times a second only, for a guest may come by there without end.
 */
#define trace_note(t, ...) trace_note_at(t, __FILE__ ":" NOTE_LINE(__LINE__), __VA_ARGS__)
void trace_note_at(struct trace *t, const char *place, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* What was left out in the seconds that are over, or (all) so far. Any thread. */
void trace_note_rest(struct trace *t, bool all);
/* One line of many that somebody has asked for: none is left out. */
void trace_tell(struct trace *t, const char *line, size_t len);
/* Recording is over: tell whoever waits for the machine. */
void trace_finish(struct trace *t);
/*
 * It is over because of an error (-errno), which trace_detach() gives. When the guest has gone the
 * machine's end is waited for. -ECANCELED is none: whoever has given up what was under way ends it.
 */
void trace_fail(struct trace *t, int error);
/* How many of n records that are about to be written may be; the last one ends the recording. */
uint64_t trace_admit(struct trace *t, uint64_t n);
/* The guest's TSC was this just now. */
void trace_seen(struct trace *t, uint64_t tsc);

/* --- from beginning to end ------------------------------------------------------------------- */

/* Its locks, and the parts that are core/'s. 0 or -ENOMEM; then, too, trace_core_exit(). */
int trace_core_init(struct trace *t);
void trace_core_exit(struct trace *t);

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
/*
 * The process that vCPU's task is of, and where its user mode is, as user_stack() has it, with
 * zeros up to max: of a kernel thread these alone. The vCPU stands.
 */
void trace_user_stack(struct trace *t, unsigned int vcpu, uint32_t *tgid, uint64_t *ips,
		      unsigned int max);

/* Probes are traps: what the payload does with trampolines is for the host to do. */
static inline bool trace_has_traps(const struct trace *t)
{
	return !t->engine->calls;
}

/* A bit for each vCPU. */
static inline uint64_t trace_all_vcpus(const struct trace *t)
{
	return t->vcpus ? UINT64_MAX >> (64 - t->vcpus) : 0;
}

/* How many there are by now, as far as is known: one that was plugged in has run. Any thread. */
static inline unsigned int trace_vcpus_now(const struct trace *t)
{
	unsigned int n = atomic_load(&t->vcpus_now);

	return n && n < t->vcpus ? n : t->vcpus;
}

/* The vCPU is there: its lock is held. */
static inline void trace_vcpu_runs(struct trace *t, unsigned int vcpu)
{
	unsigned int n = atomic_load(&t->vcpus_now);

	while (n && vcpu >= n && !atomic_compare_exchange_weak(&t->vcpus_now, &n, vcpu + 1))
		;
}

/* Whether the machine has a window of its own: a kernel need not be asked for memory. */
static inline bool trace_has_window(const struct trace *t)
{
	struct machine_info info;

	machine_get_info(t->m, &info);
	return info.window;
}

#endif
