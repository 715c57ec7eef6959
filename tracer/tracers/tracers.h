/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tracers.h - the table of tracers. */
#ifndef HVTRACE_TRACER_TRACERS_TRACERS_H
#define HVTRACE_TRACER_TRACERS_TRACERS_H

#include "tracer/instance/tracer-ops.h"
#include "tracer/tracers/names.h"

extern const struct tracer_ops nop_tracer_ops, function_tracer_ops, function_graph_tracer_ops,
	irqsoff_tracer_ops, preemptoff_tracer_ops, preemptirqsoff_tracer_ops,
	sched_switch_tracer_ops, blk_tracer_ops, mmiotrace_tracer_ops, hwlat_tracer_ops,
	hw_branch_tracer_ops, branch_tracer_ops, wakeup_tracer_ops, wakeup_rt_tracer_ops,
	wakeup_dl_tracer_ops;

const struct tracer_ops *tracer_find(const char *name);
/* Why this machine cannot have it, in one line; NULL: it can, as far as is known. */
const char *tracer_refused(const struct trace *t, const struct tracer_ops *tracer);

#endif
