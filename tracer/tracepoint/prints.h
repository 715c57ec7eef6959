/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * prints.h - what the guest writes into its own trace: trace_printk(), trace_puts(),
 * trace_marker and trace_marker_raw. The payload copies it (payload/print.S), and it becomes part
 * of the top level's trace; the guest's own has it as ever. Where probes are traps the host copies
 * it, once something else has opened the window.
 */
#ifndef HVTRACE_TRACER_TRACEPOINT_PRINTS_H
#define HVTRACE_TRACER_TRACEPOINT_PRINTS_H

#include <stdbool.h>
#include <stdint.h>

struct machine_hit;
struct trace;

/*
 * From now on; the machine runs. One line is noted where that is not possible, unless it is a
 * kernel without a trace of its own.
 */
void guest_prints_place(struct trace *t);
/* The same with the lock of events held. */
void guest_prints_place_held(struct trace *t);
/* Whether their stacks are wanted may have changed; with the lock of events held, the machine runs.
 */
int guest_prints_stacks_apply(struct trace *t);
/* The guest does not come by there any more; likewise. 0 or the machine's error. */
int guest_prints_remove(struct trace *t);
/* A trap was hit, on the vCPU's thread. False: it is none of these. */
bool guest_prints_hit(struct trace *t, const struct machine_hit *hit);

#endif
