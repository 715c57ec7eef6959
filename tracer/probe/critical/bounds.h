/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bounds.h - what of some functions of the kernel must stay where it is (move.h), as its tables
 * say.
 */
#ifndef HVTRACE_TRACER_PROBE_CRITICAL_BOUNDS_H
#define HVTRACE_TRACER_PROBE_CRITICAL_BOUNDS_H

#include "tracer/core/trace.h"
#include "tracer/probe/critical/move.h"

/*
 * What changes the preempt count may move (changes), or stays: where it is a site already.
 *
 * Of these functions (run-time addresses, by address, n of them). 0, or with nothing in *b
 * -ENOMEM, -ENODATA (the kernel does not say where its tables are), -EFAULT (they cannot be read).
 */
int bounds_read(struct trace *t, const struct text_range *func, size_t n, bool changes,
		struct move_bounds *b);
void bounds_free(struct move_bounds *b);

#endif
