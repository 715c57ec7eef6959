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
/* One was hit; on the vCPU's thread. */
void flag_traps_hit(struct trace *t, const struct machine_hit *hit);

#endif
