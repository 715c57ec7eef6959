/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trampoline.h - probes that call code within the guest: no hit leaves it.
 *
 * Opening gets the window, the payload and the collector in place; then the engine's row
 * (trampoline_probe_ops) patches sites. Probes that it cannot serve stay traps.
 */
#ifndef HVTRACE_TRACER_PROBE_TRAMPOLINE_TRAMPOLINE_H
#define HVTRACE_TRACER_PROBE_TRAMPOLINE_TRAMPOLINE_H

#include "tracer/core/trace.h"
#include "tracer/payload/patch.h"

/*
 * The machine is not paused by the caller; an attached guest runs, and one probe is tried in it. On
 * error (one line in err) nothing is left in the guest, but for a window that a site calls which
 * cannot be written.
 */
int trampoline_open(struct trace *t, char *err, size_t errlen);
/* How the kernel returns is known now: have the payload return so. The machine is paused. */
int trampoline_returns(struct trace *t);
/*
 * Take everything away again; all probes have been removed. Records that were made are in the ring
 * buffers then. Of a guest that is gone only the host's side is freed. On error (one line in err)
 * the window stays in the guest, for a later tracer to take away.
 */
int trampoline_close(struct trace *t, bool guest_gone, char *err, size_t errlen);

/*
 * Remove what a tracer that died has left in this guest. 0 when there was nothing, or the number
 * of sites that were restored, or a negative errno with one line in err. The machine runs.
 */
int trampoline_recover(struct trace *t, char *err, size_t errlen);

/*
 * The same for events alone, where probes are traps (tracepoint/traps.h): no site calls the payload, so
 * nothing is tried.
 */
int trampoline_open_events(struct trace *t, char *err, size_t errlen);
/* collector_event_stack() */
void trampoline_event_stack(struct trace *t, unsigned int vcpu, uint32_t seq, uint64_t sp,
			    uint64_t bp);

/* What has been collected so far, or had been when it was closed. */
void trampoline_get_counts(struct trace *t, struct trampoline_counts *counts);
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
/* The sites have been out of use: what was open then may have ended since. The machine is paused.
 */
void trampoline_forget_critical(struct trace *t);
/* While it is open: the window, and where in it the payload's entries are. */
struct window *trampoline_window(struct trace *t);
const struct payload_text *trampoline_text(struct trace *t);
/* Where probes are traps: one that takes the place of two bytes of NOP at this entry of its. */
struct machine_trap trampoline_trap(struct trace *t, uint32_t entry, uint64_t cookie);
/* Offset of a vCPU's ring of event data in a window with this header. */
uint64_t trampoline_event_ring(const struct payload_header *h, unsigned int vcpu);
/* Which types of the guest's own records are recorded (tracepoint/prints.h), a bit for each. */
void trampoline_set_prints(struct trace *t, uint64_t vcpus, uint32_t types);
/* Have payload_depth call for stacks deeper than this. */
void trampoline_set_depth(struct trace *t, uint32_t depth);
/* One task is one of those now, or is not any more. The machine is paused. */
void trampoline_set_pid(struct trace *t, int32_t pid, bool listed);
/* Collect what one vCPU has recorded so far; t->vcpu_lock[vcpu] is held. */
void trampoline_drain(struct trace *t, unsigned int vcpu);
/* Have readers get what there is now; the locks of all are held. */
void trampoline_catch_up(struct trace *t);
/* What all have recorded up to now, to the ring buffers; the locks of all are held. */
void trampoline_drain_all(struct trace *t);

#endif
