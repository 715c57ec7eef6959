/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * profile.h - the counts of the function profiler: how often each function was called on one CPU,
 * and what its calls took.
 *
 * As struct ftrace_profile_stat of kernel/trace/ftrace.c, 6.1. Knows nothing of a trace; one thread
 * at a time.
 */
#ifndef HVTRACE_TRACER_GRAPH_PROFILE_H
#define HVTRACE_TRACER_GRAPH_PROFILE_H

#include <stdint.h>

#include "tracer/lib/text.h"

/* Functions that are told apart, whatever a guest claims: more than kernels have. */
#define PROFILE_MAX (1u << 17)

struct profile;

struct profile *profile_new(void);     /* NULL: no memory */
void profile_free(struct profile *p);  /* NULL is allowed */
void profile_reset(struct profile *p); /* nothing has been called */

/* The function whose site is at addr is called. */
void profile_call(struct profile *p, uint64_t addr);
/* A call of it is over. It does not count if none has ever begun on this CPU. */
void profile_return(struct profile *p, uint64_t addr, uint64_t ns);

/*
 * The text of trace_stat/functionN: who took longest first. Functions whose calls took less than
 * thresh on average are left out. name() prints that of a function. NULL: nothing was called.
 */
void profile_print(const struct profile *p, uint64_t thresh_ns,
		   void (*name)(void *arg, uint64_t addr, struct text *out), void *arg,
		   struct text *out);

#endif
