/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * snapshot.h - whether a file is what irqsoff, preemptoff or preemptirqsoff have recorded: the
 * longest window, of one vCPU, with the functions in it and a stack at its end. A trace.dat does
 * not name its tracer.
 */
#ifndef HVTRACE_FRONTEND_EXPORT_SNAPSHOT_H
#define HVTRACE_FRONTEND_EXPORT_SNAPSHOT_H

#include "frontend/export/export.h"

struct snapshot {
	unsigned int cpu;
	bool irqs, preempt; /* which are off, in all of its records; none: it is no snapshot */
};

/* Reads such a file once more. */
struct snapshot snapshot_find(const struct export_input *in);

#endif
