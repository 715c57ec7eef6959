/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * switch.h - the functions by which the guest turns its own recording off and on tell us: they
 * begin with a jump into the payload, for they have no fentry site (kernel/trace/trace.c, 6.1
 * and 6.12).
 */
#ifndef HVTRACE_TRACER_TRACEPOINT_SWITCH_H
#define HVTRACE_TRACER_TRACEPOINT_SWITCH_H

struct trace;

/*
 * From now on, but for trace_config.ignore_switches; the machine runs. One line is noted where
 * that is not possible, unless it is a kernel without such functions.
 */
void guest_switch_place(struct trace *t);
/* The same with the lock of events held. */
void guest_switch_place_held(struct trace *t);

#endif
