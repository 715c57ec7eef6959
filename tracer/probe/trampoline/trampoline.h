/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trampoline.h - probes that call code within the guest: no hit leaves it.
 *
 * Opening (collect/open.c) gets the window, the payload and the collector in place; then the
 * engine's row (trampoline_probe_ops) patches sites. Probes that it cannot serve stay traps.
 */
#ifndef HVTRACE_TRACER_PROBE_TRAMPOLINE_TRAMPOLINE_H
#define HVTRACE_TRACER_PROBE_TRAMPOLINE_TRAMPOLINE_H

#include "tracer/core/trace.h"
#include "tracer/payload/patch.h"

/* Have guest_is_ours() tell of the windows that this trace has. */
void trampoline_init(struct trace *t);
/*
 * A window with the payload in it, of which nobody else knows yet: t->tramp is for collect/open.c
 * to set. The machine is not paused by the caller. On error (one line in err) nothing is left in
 * the guest.
 */
int trampoline_new(struct trace *t, struct trampoline **to, char *err, size_t errlen);
/*
 * One probe before there are many: a function is called, whose record must come. Only a guest that
 * runs can be asked to call it. On error one line in err.
 */
int trampoline_try(struct trace *t, struct trampoline *tr, char *err, size_t errlen);
/* A site may have called the payload by now: someone may be in there. */
void trampoline_entered(struct trampoline *tr);
/* A function of the kernel that takes text_mutex and patches no site of ours, by its name. */
bool trampoline_is_harmless(const char *name);
/* Wait until nobody is in there any more; no site calls it. On error one line in err. */
int trampoline_quiet(struct trace *t, struct trampoline *tr, char *err, size_t errlen);
/* A site calls it that cannot be written: it has to stay in the guest. */
bool trampoline_stays(const struct trampoline *tr);
/* Give the window back, behind trampoline_quiet(). On error (one line in err) it stays. */
int trampoline_close(struct trace *t, struct trampoline *tr, char *err, size_t errlen);
void trampoline_free(struct trampoline *tr);

/* How the kernel returns is known now: have the payload return so. The machine is paused. */
int trampoline_returns(struct trace *t);
/*
 * Have the payload record functions on these vCPUs only (a bit for each), and only of the tasks of
 * which pids has a line (NULL: all), and events on those. What it leaves out costs the guest less.
 */
void trampoline_control(struct trace *t, uint64_t vcpus, uint64_t events, const char *pids);
/*
 * Have windows of these kinds (CRITICAL_) measured on these vCPUs, and recorded from so many ticks
 * on. What is open on one where something else was measured is forgotten.
 */
void trampoline_set_critical(struct trace *t, uint64_t vcpus, uint32_t critical, uint64_t min);
void trampoline_set_critical_min(struct trace *t, uint64_t min);
/* Have the stacks of windows (CRITICAL_COPY) copied as if there had been none of them before. */
void trampoline_forget_limits(struct trace *t);
/* The sites have been out of use: what was open then may have ended since. The machine is paused.
 */
void trampoline_forget_critical(struct trace *t);
/* Its window. */
struct window *trampoline_window_of(struct trampoline *tr);
/* While it is open: the window, and where in it the payload's entries are. */
struct window *trampoline_window(const struct trace *t);
const struct payload_text *trampoline_text(const struct trace *t);
/*
 * A kernel that boots may change all types of what is called by address after the code was placed
 * (guest/call-type.h): before it is to call anything they are put there anew. 0 or -errno.
 */
int trampoline_types(struct trace *t);
/* Where probes are traps: one that takes the place of two bytes of NOP at this entry of its. */
struct machine_trap trampoline_trap(struct trace *t, uint32_t entry, uint64_t cookie);
/* Address of the pointer to the guest's own ring buffer, PAYLOAD_NONE: it is not known. */
uint64_t trampoline_guest_buffer(const struct trace *t);
/* Which types of the guest's own records are recorded (tracepoint/prints.h), a bit for each. */
void trampoline_set_prints(struct trace *t, uint64_t vcpus, uint32_t types);
/*
 * Tell the guest's tracing_off() and tracing_on() whether the top level records, where that has
 * changed or, with `anew`, whatever it has been told; with t->instances_lock held.
 */
void trampoline_set_switch(struct trace *t, bool on, bool anew);
/* The time that they have left there, a TSC; or SWITCH_ON, SWITCH_OFF. */
uint64_t trampoline_get_switch(const struct trace *t);
/* Have payload_depth call for stacks deeper than this, also in a window that is opened later. */
void trampoline_set_depth(struct trace *t, uint32_t depth);
/* One task is one of those now, or is not any more. The machine is paused. */
void trampoline_set_pid(struct trace *t, int32_t pid, bool listed);

#endif
