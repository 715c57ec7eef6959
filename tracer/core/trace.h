/* SPDX-License-Identifier: GPL-2.0-or-later */
/* trace.h - what the files of tracer/ share: the trace, its probes, tracers, clocks. */
#ifndef HVTRACE_TRACER_CORE_TRACE_H
#define HVTRACE_TRACER_CORE_TRACE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tracer/borrow/borrow.h"
#include "tracer/guest/comms.h"
#include "tracer/payload/critical.h"
#include "tracer/tracepoint/traps.h"
#include "tracer/record/follow.h"
#include "tracer/guest/guest.h"
#include "tracer/tracepoint/prints.h"
#include "tracer/tracers/hwlat-sample.h"
#include "tracer/ring/ring.h"
#include "tracer/guest/site.h"
#include "tracer/tracer.h"
#include "tracer/guest/user.h"

/* --- probes ------------------------------------------------------------------------------ */

enum {
	PROBE_FL_RECORD = 1 << 0,    /* some filter selects it: hits become records */
	PROBE_FL_INIT = 1 << 1,	     /* in memory that the kernel frees after boot */
	PROBE_FL_SET = 1 << 2,	     /* in the guest now */
	PROBE_FL_ONCE = 1 << 3,	     /* not a site: any instruction, fires once */
	PROBE_FL_GONE = 1 << 4,	     /* its memory is not the kernel's text any more */
	PROBE_FL_MODULE = 1 << 5,    /* in a module: found in the running guest */
	PROBE_FL_GOING = 1 << 6,     /* the module is being unloaded */
	PROBE_FL_CALL = 1 << 7,	     /* in the guest as a call of the payload, not as a trap */
	PROBE_FL_FUNCTION = 1 << 8,  /* the site of a function that can be traced */
	PROBE_FL_CHANGE = 1 << 9,    /* to be removed, or to be set anew */
	PROBE_FL_TOUCHED = 1 << 10,  /* was in the guest to be recorded, if only once */
	PROBE_FL_EXIT = 1 << 11,     /* a return site: probe/returns/returns.h */
	PROBE_FL_ALL_REGS = 1 << 12, /* whose function's callers may expect any register kept */
	PROBE_FL_FLAG = 1 << 13,     /* where interrupts go off or on: probe/critical/sites.h */
	PROBE_FL_LENT = 1 << 14,     /* its site is borrow/borrow.c's for now: probe/lend.c */
	PROBE_FL_GUESTS = 1 << 15,   /* a probe of the guest's kernel is there: dynevent/kprobe-traps.h */
};

/* What the trace itself has to do when the guest gets there; see guard.c. */
enum {
	GUARD_FTRACE_INIT = 1 << 0, /* the kernel is about to check and patch its sites */
	GUARD_FTRACE_DONE = 1 << 1,
	GUARD_FREE_INIT = 1 << 2,   /* the kernel is about to free its init memory */
	GUARD_UNTIL = 1 << 3,	    /* the user's --until */
	GUARD_MODULE_LOAD = 1 << 4, /* a module is about to run */
	GUARD_MODULE_FREE = 1 << 5, /* a module is about to be freed */
	GUARD_TEXT_LOCK = 1 << 6,   /* the kernel is about to patch its own text: text-lock.c */
	GUARD_COMMAND = 1 << 7,	    /* a filter command stands for it */
	GUARD_STACK = 1 << 8,	    /* the stack of each call is recorded with it */
	GUARD_TASK_NEW = 1 << 9,    /* a task is about to run for the first time: record/follow.c */
	GUARD_TASK_GONE = 1 << 10,  /* one has run for the last time, or its parent knows that */
	GUARD_DEPTH = 1 << 11,	    /* the stack tracer looks at it: stat/stack-max.c */
	GUARD_PROBE = 1 << 12,	    /* a probe event is there: dynevent/kprobe.h */
	GUARD_PATCHES = 1 << 13,    /* the kernel is about to patch itself, its returns among all */
	GUARD_PATCHED = 1 << 14,
};

/* What record/selection.c sets and takes back; what a hit of these asks for is done by instances. */
enum {
	GUARD_RECORDS = GUARD_COMMAND | GUARD_STACK | GUARD_DEPTH | GUARD_PROBE,
	GUARD_FOLLOWS = GUARD_TASK_NEW | GUARD_TASK_GONE,
};

/* All that is wanted of the hit is the vCPU's own stack. */
static inline bool guards_are_stacks(uint16_t guards)
{
	return guards && !(guards & ~(GUARD_STACK | GUARD_DEPTH));
}

struct probe {
	uint64_t va; /* link address */
	const char *name;
	uint16_t flags;
	uint16_t guards;
};

/* Grows at its end only. The cookie of a probe's trap is its index. */
struct probe_set {
	struct probe *v;
	size_t nr, room;
	/* Of those that are recorded: all, left out, in the guest now. Told without a lock. */
	_Atomic uint64_t selected, skipped, traced;
};

/* How sites are patched: one row in probe/probe.c's table. */
struct probe_ops {
	const char *name, *desc;
	/* All or none: 0 or -errno. `which` holds n indexes into t->probes. */
	int (*insert)(struct trace *t, const uint32_t *which, size_t n);
	int (*remove)(struct trace *t, const uint32_t *which, size_t n);
};

extern const struct probe_ops trap_probe_ops, trampoline_probe_ops;

/* A guest of QEMU stands for each hit of a trap: it gets more of them only when asked for. */
#define QEMU_TRAPS_MAX 100

/* The functions of the kernel image; none is recorded yet. 0 or -ENOMEM. */
int probe_set_init(struct probe_set *set, const struct guestsym *gs);
void probe_set_free(struct probe_set *set);
/* A new one at the end. NULL: no memory. */
struct probe *probe_add(struct probe_set *set, uint64_t va);
/* Index of the probe at link address va: what its trap's cookie would be. UINT32_MAX: none. */
uint32_t probe_at_site(const struct trace *t, uint64_t va);
/* The probe at va, added when there is none (the others may move). NULL: no memory. */
struct probe *probe_set_at(struct probe_set *set, uint64_t va);
/*
 * Insert those probes that have all bits of `with` and none of `without` and are not in the guest;
 * sites that hold neither a NOP nor call __fentry__ are left out and counted. The machine is
 * paused. 0 or -errno, then nothing was changed; calls that could not be undone count as inserted.
 */
int probes_insert(struct trace *t, uint16_t with, uint16_t without);
/*
 * Have n sites (run-time addresses) free of probes, which are not inserted meanwhile; or, with
 * none, as they were. 0 or -errno: then they are as they were. For borrow_lender().
 */
int probes_lend(void *arg, const uint64_t *vas, size_t n);
/* A site that is lent was called; on the vCPU's thread. */
void probes_lent_hit(struct trace *t, const struct machine_hit *hit);
/* How many are to be recorded, in the guest or not. */
size_t probes_recorded(const struct trace *t);
/* Remove those that are in the guest. */
int probes_remove(struct trace *t, uint16_t with, uint16_t without);

/* --- tracers ------------------------------------------------------------------------------ */

struct instance;
struct trace_entry;
struct event_view;

#define TRACER_EVENTS_MAX 4

struct tracer_ops {
	const char *name, *desc;
	bool functions; /* wants the fentry sites that the filter selects */
	bool exits;	/* and the return sites of these functions; for the top level only */
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
	uint32_t stacks; /* a bit for each of them whose stack it wants: event_view_unwind() */
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
	bool max;	/* looks for the longest latency: instance/max.h; for the top level only */
	uint32_t graph; /* how its trace as a graph is printed: enum output_graph_option */
};

extern const struct tracer_ops nop_tracer_ops, function_tracer_ops, function_graph_tracer_ops,
	irqsoff_tracer_ops, preemptoff_tracer_ops, preemptirqsoff_tracer_ops,
	sched_switch_tracer_ops, hwlat_tracer_ops, wakeup_tracer_ops, wakeup_rt_tracer_ops,
	wakeup_dl_tracer_ops;

const struct tracer_ops *tracer_find(const char *name);

/* --- clocks ------------------------------------------------------------------------------- */

/* What a clock knows at a moment: the same for the hits of one vCPU around it. */
struct clock_reading {
	struct guest_clock guest;
	int64_t offset; /* of another time minus the TSC's, ns */
	uint64_t tsc_khz;
};

struct clock_ops {
	const char *name, *desc;
	bool ns; /* nanoseconds; otherwise a bare count */
	/*
	 * tsc is the guest's of about now, 0 while it is not known. NULL: there is nothing to find
	 * out.
	 */
	void (*begin)(struct trace *t, unsigned int vcpu, uint64_t tsc, struct clock_reading *now);
	/* NULL: guest_clock_ns() of what begin() has found out. */
	uint64_t (*read)(struct trace *t, const struct clock_reading *now, uint64_t tsc);
};

static inline void clock_begin(const struct clock_ops *c, struct trace *t, unsigned int vcpu,
			       uint64_t tsc, struct clock_reading *now)
{
	if (c->begin)
		c->begin(t, vcpu, tsc, now);
	else
		*now = (struct clock_reading){0};
}

static inline uint64_t clock_read(const struct clock_ops *c, struct trace *t,
				  const struct clock_reading *now, uint64_t tsc)
{
	return c->read ? c->read(t, now, tsc) : guest_clock_ns(&now->guest, tsc);
}

const struct clock_ops *clock_find(const char *name); /* NULL name: the default */

struct boot;
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

/* --- the trace ---------------------------------------------------------------------------- */

struct trace {
	struct machine *m;
	const struct guestsym *gs;
	struct trace_config cfg;
	struct module_list *modules;	/* the latest reading of the guest's, and older ones */
	struct instance *instances;	/* the top level first */
	pthread_mutex_t instances_lock; /* the list, and who holds which; taken within change */
	struct funcs *funcs;		/* that can be named; and which probe each one's is */
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
	struct event_traps event_traps; /* where its probes exit to the host */
	struct guest_prints prints;	/* and what the guest writes into its own trace */
	uint64_t fentry;		/* address of the kernel's __fentry__ */
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
	struct follow follow;
	struct user_layout user;
	struct borrow *borrow;		    /* once the guest can be asked for something */
	struct boot *boot;		    /* while more is expected of a kernel that boots */
	bool late_came;			    /* boot_tell_missing(): by the boot's thread */
	uint64_t calls_since;		    /* local time at which a boot went over to them; 0 */
	atomic_bool booted;		    /* the kernel has freed its init memory */
	struct trampoline *tramp;	    /* while it is open */
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
	struct hwlat_settings hwlat;
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

/*
 * Read the guest's modules; those that are new get probes, which probes_insert() then sets. The
 * machine is paused. 0 or -errno.
 */
int modules_update(struct trace *t);
/*
 * The same when comings and goings may have been missed, with nothing of modules in the guest:
 * probes of those that have gone are not to be set again.
 */
int modules_catch_up(struct trace *t);
/* Run-time addresses of the fentry sites of the modules that are known, selected or not. */
void modules_each_site(const struct trace *t, void (*fn)(void *arg, uint64_t va), void *arg);
/* Each module that is there, until fn gives an error: that one, or 0. */
int modules_each(const struct trace *t, int (*fn)(void *arg, const struct guestsym_module *mod),
		 void *arg);
/* The module whose struct module is at addr is about to be freed: give its sites back. */
int modules_going(struct trace *t, uint64_t addr);
/* The symbol of a module that addr was in while it was loaded, or NULL; as guestsym_find(). */
const struct guestsym_symbol *modules_find(const struct trace *t, uint64_t addr, uint64_t *off,
					   uint64_t *size);
/* Tell t->unwind which modules there are. The machine is paused. */
void modules_unwind(struct trace *t);
/* The name of the module whose text addr is in, or NULL. */
const char *modules_name_at(const struct trace *t, uint64_t addr);
void modules_free(struct trace *t);

/* Add the probes of guards and of --until (may be NULL) to t->probes. */
int guards_init(struct trace *t, const char *until, char *err, size_t errlen);
/*
 * Whether an attached guest, which runs, has another kernel than the one attached to: reset.c.
 * Takes some seconds where that is not plain.
 */
bool guest_was_reset(struct trace *t);
/* The guest is past its boot: its init memory is gone, and nothing of it is waited for. */
void guards_booted(struct trace *t);
/*
 * Guards may have been out of the guest: if it has ended its boot meanwhile, do what there was to
 * be done at that. The machine is paused, t->change is held. 0 or -errno.
 */
int guards_catch_up(struct trace *t);
/* Do what the guards of p ask for; on the vCPU's thread. */
void guards_hit(struct trace *t, const struct probe *p, const struct machine_hit *hit);

/* Trampolines are going to be used: watch the guest's text_mutex. 0 or -ENOMEM. */
int text_lock_init(struct trace *t);
/* Tell the payload in w who may take it without a word. 0 or -errno. */
int text_lock_describe(struct trace *t, struct window *w);
/*
 * All probes that are traps become calls of the payload in one moment, so that none is missed in
 * between; trampolines are open. -EAGAIN: the guest patches its own text, or may be about to: to be
 * tried again. The machine is paused and t->change held.
 */
int text_lock_switch(struct trace *t);
/*
 * Put all probes into a guest that runs, once it does not patch its own text: it gets some seconds
 * for that, and the probes come later when it takes longer. The machine runs.
 */
int text_lock_begin(struct trace *t);
/* The guest is about to take it; the machine is paused and t->change held. */
int text_lock_taken(struct trace *t, const struct machine_hit *hit);
/*
 * Take the sites again once the guest is done. Called now and then; takes t->change itself. Any
 * thread but a vCPU's.
 */
int text_lock_poll(struct trace *t);

/*
 * What an entry of type says about the task and its state, and the time of the hit by the
 * instance's clock. False: recording is over, or the instance does not want this task.
 */
bool trace_describe(struct instance *i, const struct machine_hit *hit, uint16_t type,
		    struct trace_entry *ent, uint64_t *ts);
/*
 * Room for a record of type and len bytes, starting with a struct trace_entry that is filled in
 * from the guest's state; NULL when recording is over, or the instance does not want this task.
 * Then ring_commit(i->ring[hit->vcpu]).
 */
void *trace_reserve(struct instance *i, const struct machine_hit *hit, uint16_t type, size_t len);
/* How many of n records that are about to be written may be; the last one ends the recording. */
uint64_t trace_admit(struct trace *t, uint64_t n);
/* The time of the clock local, as far as it can be told. */
uint64_t trace_local_ns(struct trace *t);
/* The guest's TSC was this just now. */
void trace_seen(struct trace *t, uint64_t tsc);
/* Recording is over: tell whoever waits for the machine. */
void trace_finish(struct trace *t);
/*
 * It is over because of an error (-errno), which trace_detach() gives. When the guest has gone the
 * machine's end is waited for.
 */
void trace_fail(struct trace *t, int error);
void trace_note(struct trace *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/*
 * The guest's own text can be patched now: have that done by trampolines if they can be had. In a
 * boot the machine is paused and t->change held; and where its memory has to come from the kernel,
 * probes are traps until that is far enough (boot.h).
 */
int trace_use_trampolines(struct trace *t, char *err, size_t errlen);
/*
 * Probes are traps, and trace events are wanted, whose memory has to be in a guest that runs:
 * trampoline_open_events(). What the guest prints is seen from then on. The machine runs, the
 * events' lock is held.
 */
int trace_open_events(struct trace *t, char *err, size_t errlen);

#endif
