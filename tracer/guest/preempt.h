/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * preempt.h - what the kernel's preempt_count says (include/linux/preempt.h and
 * arch/x86/include/asm/preempt.h, 6.1), and how a trace entry has it.
 */
#ifndef HVTRACE_TRACER_GUEST_PREEMPT_H
#define HVTRACE_TRACER_GUEST_PREEMPT_H

#include <stdbool.h>
#include <stdint.h>

#include "tracer/ring/entry.h"

#define PREEMPT_MASK	   0x000000ffu
#define SOFTIRQ_SERVED	   0x00000100u
#define SOFTIRQ_DISABLED   0x0000fe00u
#define HARDIRQ_MASK	   0x000f0000u
#define NMI_MASK	   0x00f00000u
#define PREEMPT_NO_RESCHED 0x80000000u /* inverted: clear when a reschedule is due */

/* The low nibble of a trace entry's preempt_count: the depth, capped. */
static inline uint8_t preempt_nibble(uint32_t n)
{
	return n < 15 ? (uint8_t)n : 15;
}

/* TRACE_FLAG_*, as tracing_gen_ctx_irq_test() has them (kernel/trace/trace.c, 6.1). */
static inline uint8_t preempt_flags(uint32_t count)
{
	return (count & NMI_MASK ? TRACE_FLAG_NMI : 0) |
	       (count & HARDIRQ_MASK ? TRACE_FLAG_HARDIRQ : 0) |
	       (count & SOFTIRQ_SERVED ? TRACE_FLAG_SOFTIRQ : 0) |
	       (count & SOFTIRQ_DISABLED ? TRACE_FLAG_BH_OFF : 0) |
	       (count & PREEMPT_NO_RESCHED ? 0 : TRACE_FLAG_PREEMPT_RESCHED);
}

/* In an interrupt or softirq, which have stacks of their own. */
static inline bool preempt_in_interrupt(uint32_t count)
{
	return count & (NMI_MASK | HARDIRQ_MASK | SOFTIRQ_SERVED);
}

#endif
