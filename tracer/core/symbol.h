/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * symbol.h - functions of the kernel's own tracers that records name, as the kernel's would: as the
 * function that has found a window, or at the innermost end of a stack. A kernel without these
 * tracers has none of them: no address here is ever one of text.
 */
#ifndef HVTRACE_TRACER_CORE_SYMBOL_H
#define HVTRACE_TRACER_CORE_SYMBOL_H

#include <stdint.h>

#define CRITICAL_TRACER_IRQS	UINT64_C(0xffffffffffffff00)
#define CRITICAL_TRACER_PREEMPT UINT64_C(0xffffffffffffff10)
#define WAKEUP_TRACE_STACK	UINT64_C(0xffffffffffffff20)
#define WAKEUP_PROBE		UINT64_C(0xffffffffffffff30)
#define WAKEUP_PROBE_SWITCH	UINT64_C(0xffffffffffffff40)

/* The name of such an address; NULL: it is another. */
const char *trace_tracer_function(uint64_t addr);

#endif
