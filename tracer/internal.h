/* SPDX-License-Identifier: GPL-2.0-or-later */
/* internal.h - what the files of a trace's life share: guards, the text lock, modules, engines. */
#ifndef HVTRACE_TRACER_INTERNAL_H
#define HVTRACE_TRACER_INTERNAL_H

#include "tracer/core/trace.h"
#include "tracer/tracer.h"

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

/* What a trace hands to its collector. */
extern const struct collector_ops trace_collector_ops;

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
int trace_use_trampolines(
	struct trace *t, char *err,
	size_t errlen); /*
			 * Remove what a tracer that died has left in this guest. 0 when there was
			 * nothing, or the number of sites that were restored, or a negative errno
			 * with one line in err. The machine runs.
			 */
int leftover_remove(struct trace *t, char *err, size_t errlen);

#endif
