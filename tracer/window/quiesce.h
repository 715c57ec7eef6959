/* SPDX-License-Identifier: GPL-2.0-or-later */
/* quiesce.h - makes sure that nothing in the guest is in the payload, so that it can go. */
#ifndef HVTRACE_TRACER_WINDOW_QUIESCE_H
#define HVTRACE_TRACER_WINDOW_QUIESCE_H

#include "tracer/guest/guest.h"
#include "tracer/guest/within.h"
#include "tracer/window/window.h"

/* How long is waited. */
struct quiesce_patience {
	int ms;
	bool to_undo; /* else no longer than until the guest is given up (guest.h): -ECANCELED */
};

/*
 * No site calls the window's code any more: wait until no vCPU runs in it and no interrupted task
 * is to go on in it. The machine is not paused by the caller and runs. 0, -ETIMEDOUT, -ESRCH
 * when it has ended with somebody in there, -ENODATA when the kernel's types do not tell where its
 * tasks are, or the error of tasks_each() or of the machine: tasks_strerror().
 */
int quiesce(struct guest_kernel *g, const struct guestsym *gs, const struct window *w,
	    struct quiesce_patience patience);

/*
 * The machine is paused, and jumps are about to take the place of instructions that have moved:
 * whoever would go on in the middle of what one overwrites goes on in the window, where that is
 * executed. 0, or with some of them there, which is as good, -EBUSY (a vCPU is where it is not
 * known what it goes back to: in an NMI) or an error as above.
 */
struct moved;
int quiesce_enter(struct guest_kernel *g, const struct guestsym *gs, const struct moved *m);

/*
 * Wait until nobody is in the middle of n ranges of the kernel's own text, likewise, and then call
 * `then` with the machine paused: what it returns, or an error as above.
 */
int quiesce_then(struct guest_kernel *g, const struct guestsym *gs, const struct text_range *range,
		 size_t n, struct quiesce_patience patience, int (*then)(void *arg), void *arg);

#endif
