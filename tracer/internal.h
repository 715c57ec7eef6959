/* SPDX-License-Identifier: GPL-2.0-or-later */
/* internal.h - what the files of a trace's life share: guards, the text lock, modules, engines. */
#ifndef HVTRACE_TRACER_INTERNAL_H
#define HVTRACE_TRACER_INTERNAL_H

#include "tracer/core/trace.h"
#include "tracer/tracer.h"

struct boot;

/*
 * Do the part of modules_update() that takes longest, for which the guest need not stand: only
 * while its tables are copied. What goes wrong does so again there.
 */
void modules_prepare(struct trace *t);
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
/* The module whose struct module is at addr is about to be freed: give its sites back. */
int modules_going(struct trace *t, uint64_t addr);

/* The sites are given back while the guest patches its own text; see text-lock.c */
struct text_lock {
	uint64_t mutex, owner; /* run-time address of text_mutex, and of its owner word; 0 */
	enum text_lock_state {
		TEXT_LOCK_OURS,	   /* the sites are */
		TEXT_LOCK_AWAY,	   /* they are the guest's now: t->away */
		TEXT_LOCK_WATCHED, /* so they are, but the call that tells of it is in place */
	} state;		   /* t->change */
	/* Since when; since when has the mutex been free, and has it been watched */
	int64_t state_ms, free_ms, watch_ms;
};

/* An attached guest's clock as it was seen to go: reset.c. The session's thread only */
struct guest_pulse {
	uint64_t jiffies;
	int64_t looked_ms;  /* when that was */
	unsigned int looks; /* in a row that found no guest */
	bool gone;
};

/* What the way of a trace through a guest's life needs. */
struct life {
	atomic_bool setting_out; /* a guest that runs is being attached to: what is learnt and set
				  * up in it ends when that is given up, what undoes it does not */
	struct text_lock text_lock; /* t->change */
	struct guest_pulse pulse;
	/* While a guarded function runs at whose end there is something to do: where a trap waits
	 * for that (0: none), and what it stands for. */
	uint64_t guard_return;
	uint32_t guard_returned;
	struct boot *boot;    /* while more is expected of a kernel that boots; t->change */
	bool late_came;	      /* boot_tell_missing(): by the boot's thread */
	uint64_t calls_since; /* local time at which a boot went over to them; 0 */
};

/* What a trace hands to its collector. */
extern const struct collector_ops trace_collector_ops;

/* Nobody wants it any more: for what takes a while before the trace has begun. */
static inline bool trace_is_given_up(const struct trace *t)
{
	return t->cfg.cancelled && t->cfg.cancelled(t->cfg.cancelled_arg);
}

/* Add the probes of guards, and of what recording begins and ends with, to t->probes. */
int guards_init(struct trace *t, char *err, size_t errlen);
/* An attached guest runs: note which of the tasks that are to be traced it does not have. */
void pids_tell_missing(struct trace *t);
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
/* Do what these guards (GUARD_) ask for; on the vCPU's thread. */
void guards_hit(struct trace *t, uint32_t guards, const struct machine_hit *hit);

/* Trampolines are going to be used: watch the guest's text_mutex. 0 or -ENOMEM. */
int text_lock_init(struct trace *t);
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
 * The guest's own text can be patched now: have that done by trampolines if they can be had. In a
 * boot the machine is paused and t->change held; and where its memory has to come from the kernel,
 * probes are traps until that is far enough (boot.h).
 */
int trace_use_trampolines(struct trace *t, char *err, size_t errlen);

/* What looking for its calls may cost while the guest stands. */
struct leftover_limits {
	uint64_t bytes; /* of text */
	size_t patches;
	int64_t ms;
	int64_t (*now_ms)(void);
};

extern const struct leftover_limits leftover_limits;

/*
 * Remove what a tracer that died has left in this guest. 0 when there was nothing, or the number
 * of sites that were restored, or a negative errno with one line in err. The machine runs.
 * -E2BIG, -ETIMEDOUT: beyond the limits, and nothing has been changed.
 */
int leftover_remove(struct trace *t, const struct leftover_limits *limits, char *err,
		    size_t errlen);

#endif
