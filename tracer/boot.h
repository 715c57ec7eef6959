/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * boot.h - a kernel that boots while it is traced: what it can be asked for only once it is far
 * enough. That is memory for the window, where the machine has none of its own: probes are traps
 * until then. It is work for its kworkers, which register trace events, whatever the engine. And it
 * is sites that only a kernel that has booted holds, for tracers of windows.
 */
#ifndef HVTRACE_TRACER_BOOT_H
#define HVTRACE_TRACER_BOOT_H

#include "tracer/core/trace.h"

struct boot;

/*
 * Before the machine starts. Under TCG each trap slows the guest down, so when many functions are
 * to be recorded they wait for trampolines (t->held).
 */
void boot_prepare(struct trace *t);
/* Whether the tracer of the configuration is one that has to wait until the kernel is patched. */
bool boot_has_late_tracer(const struct trace *t);
/*
 * The kernel is past its ftrace_init(): from now on the rest is waited for, on a thread of its own.
 * The machine is paused, t->change is held. 0, also the second time, or -errno.
 */
int boot_follow(struct trace *t);
/*
 * Whether the guest is not to go on at the site of p yet: it is about to end its boot, and the
 * trace events that are wanted are still being registered. It is kept from that for some minutes
 * at most. t->change is held.
 */
bool boot_holds(struct trace *t, const struct probe *p);
/*
 * The same at a trap of a probe's, on the vCPU's thread, with no lock held. True: the task there
 * sleeps for a moment, and comes to the trap again.
 */
bool boot_holds_trap(struct trace *t, uint32_t probe, const struct machine_hit *hit);
/*
 * Its alternative_instructions() is over, so the places that tracers wait for hold what they stay:
 * t->patched is true from now on; otherwise as boot_is_over().
 */
void boot_is_patched(struct trace *t);
/*
 * The kernel has booted: t->booted is true from now on. Where a tracer waits for that, the guest
 * stands until it has come, should it be able to. From the hit that tells of it, t->change held.
 */
void boot_is_over(struct trace *t);
/* Nothing is waited for any more. No lock is held, and the machine is not paused by the caller. */
void boot_end(struct trace *t);
/* Behind that: tell the user if such a tracer has never come. */
void boot_tell_missing(struct trace *t);

#endif
