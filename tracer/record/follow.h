/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * follow.h - the options function-fork and event-fork: the child of a task that set_ftrace_pid or
 * set_ftrace_notrace_pid lists (set_event_pid, set_event_notrace_pid) is listed before it runs, and
 * is no more once it has run.
 */
#ifndef HVTRACE_TRACER_RECORD_FOLLOW_H
#define HVTRACE_TRACER_RECORD_FOLLOW_H

#include <stdbool.h>
#include <stdint.h>

#include "guestsym/guestsym.h"

struct trace;
struct probe_set;
struct machine_hit;

struct follow {
	bool known;		      /* this kernel has all that is needed */
	bool on;		      /* change: some instance follows tasks */
	uint32_t task_new, task_gone; /* index of the probe */
	uint64_t exit_state, on_cpu;  /* in struct task_struct */
};

/*
 * Find the places where tasks come and go; without them nothing can be followed. free() it. NULL:
 * no memory.
 */
struct follow *follow_new(const struct probe_set *probes, const struct guestsym *gs);
/* Settle whether there is anything to follow. t->change is held. */
void follow_update(struct trace *t);
/* What stands for that at this probe: GUARD_FOLLOWS */
uint32_t follow_guards(const struct follow *f, uint32_t probe);
/* A hit of such a guard: the machine is paused, t->change held. */
void follow_hit(struct trace *t, uint32_t guards, const struct machine_hit *hit);

#endif
