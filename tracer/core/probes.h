/* SPDX-License-Identifier: GPL-2.0-or-later */
/* probes.h - the table of probes: what there is at which address, and who wants what of it. */
#ifndef HVTRACE_TRACER_CORE_PROBES_H
#define HVTRACE_TRACER_CORE_PROBES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "guestsym/guestsym.h"

struct trace;

#define PROBES_MAX (UINT32_C(1) << 22) /* kernels have some 100,000 places */

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
	PROBE_FL_GUESTS =
		1 << 15, /* a probe of the guest's kernel is there: dynevent/kprobe-traps.h */
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
	/* A probe event is there (dynevent/kprobe.h), or a tracer looks at it (tracer_ops.calls) */
	GUARD_PROBE = 1 << 12,
	GUARD_PATCHES = 1 << 13, /* the kernel is about to patch itself, its returns among all */
	GUARD_PATCHED = 1 << 14,
	GUARD_FROM = 1 << 15,  /* the user's --from */
	GUARD_CRASH = 1 << 16, /* it tells of a crash: control/crash.h */
};

/* What record/selection.c sets and takes back; what a hit of these asks for is done by instances.
 */
enum {
	GUARD_RECORDS = GUARD_COMMAND | GUARD_STACK | GUARD_DEPTH | GUARD_PROBE,
	GUARD_FOLLOWS = GUARD_TASK_NEW | GUARD_TASK_GONE,
	/* All that is wanted of the hit is the vCPU's own stack. */
	GUARD_STACKS = GUARD_STACK | GUARD_DEPTH,
};

static inline bool guards_are_stacks(uint32_t guards)
{
	return guards && !(guards & ~GUARD_STACKS);
}

struct probe {
	uint64_t va; /* link address */
	const char *name;
	uint32_t guards;
	uint32_t asked; /* of these: what features ask for by probe_ask() */
	uint16_t flags;
	bool kept; /* somebody goes on knowing it by its index: it becomes no other one */
};

/*
 * The cookie of a probe's trap is its index, which stays the same. Places of probes in modules that
 * have gone are used again; the kernel's own come first, as they were found.
 */
struct probe_set {
	struct probe *v;
	size_t nr, room;
	size_t nr_free,
		free_from; /* places that may be used again; there is none before this one */
	/* Of those that are recorded: all, left out, in the guest now. Told without a lock. */
	_Atomic uint64_t selected, skipped, traced;
};

/* What pieces are timed by: the host's clock, but for tests. */
struct pieces_clock {
	int64_t (*now)(void);	  /* ns */
	void (*rest)(int64_t ns); /* the guest runs meanwhile */
};

/* A change of many traps that is under way; all 0: none is, or ever was. See probe/pieces.h. */
struct probe_pieces {
	enum {
		PIECES_NONE,
		PIECES_REMOVE,
		PIECES_INSERT,
		PIECES_UNDO, /* setting has failed: what was set is taken out again */
	} phase;
	uint32_t *which;  /* indexes of probes, in the order in which they are dealt with */
	size_t n, at;	  /* all of them, and the next one */
	bool insert;	  /* when those to be removed have been */
	bool again;	  /* others are to be set by now, when these are */
	size_t size;	  /* how many go into a piece; 0: it is not known yet */
	int64_t began_ns; /* when the first one did */
	bool told;	  /* that it takes long */
	int64_t took_ns;  /* the last one */
	int error;	  /* of the change, -errno: who ends it is told */
	const struct pieces_clock *clock; /* NULL: the host's */
};

/* How sites are patched: one row in probe/probe.c's table. */
struct probe_ops {
	const char *name, *desc;
	bool calls; /* sites call the payload, and do not exit to the host */
	/* Probes that move are about to be inserted (flag_sites_enter()): 0, or they cannot be now.
	 */
	int (*enter)(struct trace *t);
	/*
	 * All or none: 0 or -errno. `which` holds n indexes into t->probes, in the order to go by:
	 * what was set last is removed the soonest.
	 */
	int (*insert)(struct trace *t, const uint32_t *which, size_t n);
	int (*remove)(struct trace *t, const uint32_t *which, size_t n);
};

/* The functions of the kernel image; none is recorded yet. 0 or -ENOMEM. */
int probe_set_init(struct probe_set *set, const struct guestsym *gs);
void probe_set_free(struct probe_set *set);
/* A new one. NULL: no memory, or PROBES_MAX. */
struct probe *probe_add(struct probe_set *set, uint64_t va);
/*
 * Probes of modules that have gone, and are not in the guest, make room for others. Nothing knows
 * them by their index any more, but for those that are kept.
 */
void probes_recycle(struct probe_set *set);
/* Index of the probe at link address va: what its trap's cookie would be. UINT32_MAX: none. */
uint32_t probe_at_site(const struct trace *t, uint64_t va);
/* Index of the function of that name, of the kernel image; UINT32_MAX: none can be traced. */
uint32_t probe_named(const struct probe_set *set, const char *name);
/* The probe at va, added when there is none (the others may move). NULL: no memory. */
struct probe *probe_set_at(struct probe_set *set, uint64_t va);
/*
 * A feature wants hits of this probe, or does no more: one of GUARD_RECORDS, which it deals with.
 * t->change is held; selection_patch() goes on from there.
 */
static inline void probe_ask(struct probe *p, uint32_t guard, bool on)
{
	p->asked = on ? p->asked | guard : p->asked & ~guard;
}
/* How many are to be recorded, in the guest or not. */
size_t probes_recorded(const struct trace *t);

#endif
