/* SPDX-License-Identifier: GPL-2.0-or-later */
/* within.h - is anybody in the guest in the middle of these functions? */
#ifndef HVTRACE_TRACER_GUEST_WITHIN_H
#define HVTRACE_TRACER_GUEST_WITHIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tracer/guest/guest.h"

struct text_range {
	uint64_t va, size;
};

/*
 * Whether a vCPU executes one of n ranges of text, or was interrupted or preempted there: the task
 * that it runs, or one that could run, has such an address on its stack (or a word that has been
 * left there and looks like one). False is certain for code that does not sleep. Idle tasks do not
 * count. The machine is paused. 0, or -ENODATA when the kernel's types do not tell where stacks
 * are, -ENOMEM, or the error of tasks_each() or of the machine.
 */
int tasks_within(struct guest_kernel *g, const struct guestsym *gs, const struct text_range *range,
		 size_t n, bool *within);

#endif
