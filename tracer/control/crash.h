/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * crash.h - the guest's kernel panics, oopses, or is asked for its trace (sysrq-z): what its own
 * trace would do then is done to ours (kernel/trace/trace.c and kernel/panic.c, 6.1 and 6.12).
 */
#ifndef HVTRACE_TRACER_CONTROL_CRASH_H
#define HVTRACE_TRACER_CONTROL_CRASH_H

#include <stdbool.h>

#include "tracer/core/trace.h"

struct crash *crash_new(void);	      /* NULL: no memory */
void crash_free(struct crash *crash); /* NULL is allowed */
/* Row i of the functions of the guest's kernel that tell of it, NULL past the last. */
const char *crash_function(unsigned int i);
/*
 * One of them is called; on the vCPU's thread, or the collector's. It does not return to the guest
 * before all is done, but for what crash_tell() says.
 */
void crash_hit(struct trace *t, const char *function, const struct machine_hit *hit);
/* Say what was to be said, or printed, once the guest goes on; it may take any time. */
void crash_tell(struct trace *t);
/* panic() was called; and that has ended the trace. */
bool crash_panicked(const struct trace *t);
bool crash_ended(const struct trace *t);

#endif
