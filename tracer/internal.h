/* SPDX-License-Identifier: GPL-2.0-or-later */
/* internal.h - what the files of tracer/ share: the trace, its probes, tracers, clocks. */
#ifndef HVTRACE_TRACER_INTERNAL_H
#define HVTRACE_TRACER_INTERNAL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tracer/borrow.h"
#include "tracer/comms.h"
#include "tracer/guest.h"
#include "tracer/ring.h"
#include "tracer/tracer.h"

/* --- probes ------------------------------------------------------------------------------ */

enum {
	PROBE_FL_RECORD = 1 << 0, /* the filter selected it: hits become records */
	PROBE_FL_INIT = 1 << 1,	  /* in memory that the kernel frees after boot */
	PROBE_FL_SET = 1 << 2,	  /* in the guest now */
	PROBE_FL_ONCE = 1 << 3,	  /* not a site: any instruction, fires once */
	PROBE_FL_GONE = 1 << 4,	  /* its memory is not the kernel's text any more */
	PROBE_FL_MODULE = 1 << 5, /* in a module: found in the running guest */
	PROBE_FL_GOING = 1 << 6,  /* the module is being unloaded */
};

/* What the trace itself has to do when the guest gets there; see guard.c. */
enum {
	GUARD_FTRACE_INIT = 1 << 0, /* the kernel is about to check and patch its sites */
	GUARD_FTRACE_DONE = 1 << 1,
	GUARD_FREE_INIT = 1 << 2,   /* the kernel is about to free its init memory */
	GUARD_UNTIL = 1 << 3,	    /* the user's --until */
	GUARD_MODULE_LOAD = 1 << 4, /* a module is about to run */
	GUARD_MODULE_FREE = 1 << 5, /* a module is about to be freed */
};

struct probe {
	uint64_t va; /* link address */
	const char *name;
	uint8_t flags;
	uint8_t guards;
};

/* Grows at its end only. The cookie of a probe's trap is its index. */
struct probe_set {
	struct probe *v;
	size_t nr, room;
	uint64_t selected, skipped;
};

/* How sites are patched: one row in probe.c's table. */
struct probe_ops {
	const char *name, *desc;
	/* All or none: 0 or -errno. `which` holds n indexes into t->probes. */
	int (*insert)(struct trace *t, const uint32_t *which, size_t n);
	int (*remove)(struct trace *t, const uint32_t *which, size_t n);
};

extern const struct probe_ops trap_probe_ops;

/* The sites of the kernel image that the configuration selects. 0 or -ENOMEM. */
int probe_set_init(struct probe_set *set, const struct trace_config *cfg);
/*
 * Every glob must match something, of the kernel or of a module that is known, and something must
 * be left to trace. -ENOENT with one line in err.
 */
int probes_check(const struct trace *t, char *err, size_t errlen);
void probe_set_free(struct probe_set *set);
/* A new one at the end. NULL: no memory. */
struct probe *probe_add(struct probe_set *set, uint64_t va);
/* The probe at va, added when there is none (the others may move). NULL: no memory. */
struct probe *probe_set_at(struct probe_set *set, uint64_t va);
/*
 * Insert those probes that have all bits of `with` and none of `without` and are not in the guest;
 * sites that hold neither a NOP nor call __fentry__ are left out and counted. The machine is
 * paused. 0 or -errno, then nothing was changed.
 */
int probes_insert(struct trace *t, uint8_t with, uint8_t without);
/* Remove those that are in the guest. */
int probes_remove(struct trace *t, uint8_t with, uint8_t without);

/* A function of this name is to be recorded, as far as filter and notrace go. */
bool probe_selected(const struct trace_config *cfg, const char *name);
/* Which function names a list of globs selects: true when any matches. */
bool glob_list_match(const char *const *globs, size_t nr, const char *name);

/* --- tracers ------------------------------------------------------------------------------ */

struct tracer_ops {
	const char *name, *desc;
	bool functions; /* wants the fentry sites that the filter selects */
	/* A selected site was hit; on the vCPU's thread. NULL when it wants none. */
	void (*hit)(struct trace *t, const struct probe *p, const struct machine_hit *hit);
};

extern const struct tracer_ops nop_tracer_ops, function_tracer_ops;

const struct tracer_ops *tracer_find(const char *name);

/* --- clocks ------------------------------------------------------------------------------- */

struct clock_ops {
	const char *name, *desc;
	bool ns; /* nanoseconds; otherwise a bare count */
	uint64_t (*read)(struct trace *t, unsigned int vcpu, uint64_t tsc);
};

const struct clock_ops *clock_find(const char *name); /* NULL name: the default */

/* --- the trace ---------------------------------------------------------------------------- */

struct trace {
	struct machine *m;
	const struct guestsym *gs;
	struct trace_config cfg;
	struct module_list *modules; /* the latest reading of the guest's, and older ones */
	const struct tracer_ops *tracer;
	const struct clock_ops *clock;
	const struct probe_ops *engine;
	struct guest_kernel guest;
	struct probe_set probes;
	uint64_t fentry;	/* address of the kernel's __fentry__ */
	uint64_t ftrace_return; /* while ftrace_init() runs: where a trap waits for its end */
	struct comms *comms;
	unsigned int vcpus;
	struct ring *ring[MACHINE_MAX_VCPUS];
	struct borrow *borrow;	/* of an attached guest that runs */
	/* Site recorded last, for progress displays. */
	_Atomic(const char *) at[MACHINE_MAX_VCPUS];
	uint64_t max_events; /* UINT64_MAX: no limit */
	_Atomic uint64_t events;
	_Atomic uint64_t ticks; /* of the counter clock */
	atomic_bool done;
	atomic_int error; /* -errno of a probe change at a guard; 0 */
};

/*
 * Read the guest's modules; those that are new get probes, which probes_insert() then sets. The
 * machine is paused. 0 or -errno.
 */
int modules_update(struct trace *t);
/* The module whose struct module is at addr is about to be freed: give its sites back. */
int modules_going(struct trace *t, uint64_t addr);
/* The symbol of a module that addr was in while it was loaded, or NULL; as guestsym_find(). */
const struct guestsym_symbol *modules_find(const struct trace *t, uint64_t addr, uint64_t *off,
					   uint64_t *size);
/* Whether the name of a function of a module matches. */
bool modules_match(const struct trace *t, const char *glob);
void modules_free(struct trace *t);

/* Add the probes of guards and of --until (may be NULL) to t->probes. */
int guards_init(struct trace *t, const char *until, char *err, size_t errlen);
/* The guest is past its boot: its init memory is gone, and nothing of it is waited for. */
void guards_booted(struct trace *t);
/* Do what the guards of p ask for; on the vCPU's thread. */
void guards_hit(struct trace *t, const struct probe *p, const struct machine_hit *hit);

/*
 * Room for a record of type and len bytes, starting with a struct trace_entry that is filled in
 * from the guest's state; NULL when recording is over. Then ring_commit(t->ring[hit->vcpu]).
 */
void *trace_reserve(struct trace *t, const struct machine_hit *hit, uint16_t type, size_t len);
/* Recording is over: tell whoever waits for the machine. */
void trace_finish(struct trace *t);

#endif
