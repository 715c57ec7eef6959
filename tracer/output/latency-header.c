// SPDX-License-Identifier: GPL-2.0-or-later
/* latency-header.c - what the trace of a latency begins with (kernel/trace/trace.c, 6.1). */
#include "tracer/output/internal.h"

#include <inttypes.h>

static void latency_places(struct output *o, const struct output_latency *l)
{
	text_puts(o->text, "#  => started at: ");
	output_address(o, l->started);
	text_puts(o->text, "\n#  => ended at:   ");
	output_address(o, l->ended);
	text_puts(o->text, "\n#\n");
}

/* print_trace_header() */
void output_latency_header(struct output *o, uint64_t entries, uint64_t written)
{
	const struct output_latency *l = &o->cfg.latency;

	text_printf(o->text,
		    "# %s latency trace v1.1.5 on %s\n"
		    "# --------------------------------------------------------------------\n"
		    "# latency: %" PRIu64 " us, #%" PRIu64 "/%" PRIu64
		    ", CPU#%u | (M:%s VP:0, KP:0, SP:0 HP:0 #P:%u)\n"
		    "#    -----------------\n"
		    "#    | task: %.16s-%d (uid:%u nice:%d policy:%u rt_prio:%u)\n"
		    "#    -----------------\n",
		    o->cfg.tracer, o->cfg.release, l->ns / 1000, entries, written, l->cpu,
		    o->cfg.preempt_model ? o->cfg.preempt_model : "unknown", o->cfg.cpus, l->comm,
		    l->pid, l->uid, l->nice, l->policy, l->rt_priority);
	if (l->started)
		latency_places(o, l);
	text_puts(o->text, "#\n");
}
