/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stack-max.h - the stack tracer: the deepest stack of a task that was seen at the call of a
 * function, as kernel/trace/trace_stack.c, 6.1, has it.
 *
 * Whether a stack is deeper than all before is found out in the guest, at each call: the payload
 * compares its stack pointer with one word that the host writes (WINDOW_DEPTH), which records
 * nothing and costs a few instructions. Only then does the vCPU stand, for the host to look at the
 * stack: a record would come too late for that. Depths only go up, so there are some hundreds of
 * such calls, most of them at once.
 */
#ifndef HVTRACE_TRACER_STAT_STACK_MAX_H
#define HVTRACE_TRACER_STAT_STACK_MAX_H

#include "tracer/core/trace.h"

struct stack_max;

struct stack_max *stack_max_new(struct trace *t); /* NULL: no memory */
void stack_max_free(struct stack_max *s);	  /* NULL is allowed */

/* The vCPU stands at the call of such a function. */
void stack_max_hit(struct trace *t, const struct machine_hit *hit);

#endif
