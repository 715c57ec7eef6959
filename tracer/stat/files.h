/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * files.h - what files of tracefs do here: profilers, the stack tracer, latencies. Part
 * of tracer.h.
 */
#ifndef HVTRACE_TRACER_STAT_FILES_H
#define HVTRACE_TRACER_STAT_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct func_filter;
struct text;
struct trace;

/*
 * function_profile_enabled. -EBUSY while function_graph is the tracer, -EOPNOTSUPP as for that. On:
 * counting starts anew.
 */
bool trace_profiles(struct trace *t);
int trace_set_profile(struct trace *t, bool on);
/* trace_stat/functionN */
void trace_print_profile(struct trace *t, unsigned int vcpu, struct text *out);

/*
 * trace_stat/branch_annotated, which is there where the kernel counts how its likely() and
 * unlikely() come out (CONFIG_PROFILE_ANNOTATED_BRANCHES).
 */
bool trace_counts_branches(const struct trace *t);
void trace_print_branches(struct trace *t, struct text *out);

/*
 * hvtrace/latency_enabled, and hvtrace/latency: all windows that the tracer of latencies finds are
 * counted, by where they began and ended. On: counting starts anew, as with another such tracer.
 */
bool trace_keeps_latencies(struct trace *t);
int trace_keep_latencies(struct trace *t, bool on);
void trace_print_latencies(struct trace *t, struct text *out);

/*
 * The stack tracer: stack_tracer_enabled (as it was written; -EOPNOTSUPP: the kernel does not tell
 * where its stacks are), stack_max_size, stack_trace, and stack_trace_filter, whose FUNC_FILTER it
 * is.
 */
int trace_stack_tracer(struct trace *t);
int trace_set_stack_tracer(struct trace *t, int value);
uint64_t trace_stack_max_size(struct trace *t);
void trace_set_stack_max_size(struct trace *t, uint64_t size);
void trace_print_stack(struct trace *t, struct text *out);
struct func_filter *trace_stack_functions(struct trace *t);

#endif
