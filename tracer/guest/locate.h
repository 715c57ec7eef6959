/* SPDX-License-Identifier: GPL-2.0-or-later */
/* locate.h - what a guest that runs tells of its kernel, before there is a trace. */
#ifndef HVTRACE_TRACER_GUEST_LOCATE_H
#define HVTRACE_TRACER_GUEST_LOCATE_H

#include "guestsym/guestsym.h"
#include "vmm/machine.h"

/*
 * What the kernel of a running guest says about itself in the guest's memory, for guests whose
 * image is not at hand; p as of guestsym_open_memory(). NULL on error, also when it is given up,
 * with one line in err. To be closed by the caller.
 */
struct guestsym *trace_read_kernel(struct machine *m, struct guestsym_parsers *p,
				   const struct machine_patience *patience, char *err,
				   size_t errlen);
/*
 * The trace events that this kernel has now; gs is what trace_read_kernel() gave. 0 or a negative
 * errno, with one line in err. To be freed with guestsym_events_free().
 */
int trace_read_events(struct machine *m, const struct guestsym *gs,
		      struct guestsym_event_list *list, char *err, size_t errlen);

/* What a running kernel's memory tells of it. */
struct trace_look {
	bool pti;	      /* page table isolation is on */
	unsigned int levels;  /* of its page tables */
	char clocksource[16]; /* that it keeps time with, "" when that cannot be told */
};
/*
 * gs is what trace_read_kernel() gave (slide 0), or from an image: slide is the kernel's run-time
 * address minus its link address. The guest stands while its registers are read; nothing of it is
 * changed. 0, or a negative errno when the kernel does not tell whether pti is on.
 */
int trace_look(struct machine *m, const struct guestsym *gs, uint64_t slide,
	       struct trace_look *look);

#endif
