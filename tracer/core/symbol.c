// SPDX-License-Identifier: GPL-2.0-or-later
/* symbol.c - the name of an address, as records print it. */
#include "tracer/core/symbol.h"
#include "tracer/core/trace.h"
#include "tracer/guest/modules.h"
#include "tracer/output/output.h"

#include <inttypes.h>
#include <stdio.h>

const char *trace_tracer_function(uint64_t addr)
{
	switch (addr) {
	case CRITICAL_TRACER_IRQS:
		return "tracer_hardirqs_on";
	case CRITICAL_TRACER_PREEMPT:
		return "tracer_preempt_on";
	case WAKEUP_TRACE_STACK:
		return "__ftrace_trace_stack";
	case WAKEUP_PROBE:
		return "probe_wakeup";
	case WAKEUP_PROBE_SWITCH:
		return "probe_wakeup_sched_switch";
	default:
		return NULL;
	}
}

bool trace_find_symbol(void *arg, uint64_t addr, struct output_symbol *sym)
{
	const struct trace *t = arg;
	const char *tracer = trace_tracer_function(addr);
	const struct guestsym_symbol *found;

	if (tracer) {
		*sym = (struct output_symbol){.name = tracer, .size = 1};
		return true;
	}
	if (modules_symbol(t->modules, addr, &sym->copy)) {
		sym->name = sym->copy.name;
		sym->module = sym->copy.module;
		sym->off = sym->copy.off;
		sym->size = sym->copy.size;
		return true;
	}
	sym->module = NULL;
	found = guestsym_find(t->gs, addr - t->guest.slide, &sym->off, &sym->size);
	if (!found)
		return false;
	sym->name = found->name;
	return true;
}

uint64_t trace_runtime(const struct trace *t, const char *symbol)
{
	uint64_t link = guestsym_addr(t->gs, symbol);

	return link ? link + t->guest.slide : 0;
}

size_t trace_print_symbol(struct trace *t, uint64_t addr, char *buf, size_t size)
{
	struct output_symbol sym = {0};
	int len;

	if (!trace_find_symbol(t, addr, &sym))
		len = snprintf(buf, size, "0x%" PRIx64, addr);
	else
		len = snprintf(buf, size, "%s+0x%" PRIx64 "/0x%" PRIx64 "%s%s%s", sym.name, sym.off,
			       sym.size, sym.module ? " [" : "", sym.module ? sym.module : "",
			       sym.module ? "]" : "");
	return (size_t)len < size ? (size_t)len : size - 1;
}
