/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * traps.h - flag sites that are traps: the host does what their instructions would have done,
 * and keeps the time. Only for interrupts.
 */
#ifndef HVTRACE_TRACER_PROBE_CRITICAL_TRAPS_H
#define HVTRACE_TRACER_PROBE_CRITICAL_TRAPS_H

#include "tracer/core/trace.h"

/* The trap for the flag site at this link address; its place is filled in already. */
void flag_traps_make(const struct trace *t, uint64_t va, struct machine_trap *trap);

/* What a hit does to the vCPU, and to the window. */
struct flag_step {
	struct machine_regs regs; /* that it goes on with */
	bool changed;		  /* they are others than those at hand */
	bool off, on;		  /* interrupts go off; they are about to go on */
	uint64_t user;		  /* user mode follows: the privilege level */
};

/* One was hit: the vCPU goes on as if it had executed the site. On its thread. 0 or -errno. */
int flag_traps_step(struct trace *t, const struct machine_hit *hit, struct flag_step *s);

#endif
