/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stacks.h - where the guest's kernel has its stacks, for who pairs calls and returns. */
#ifndef HVTRACE_TRACER_GRAPH_STACKS_H
#define HVTRACE_TRACER_GRAPH_STACKS_H

#include "tracer/graph/pairing.h"
#include "tracer/guest/guest.h"

/* False: the kernel, which maps those of interrupts as it starts its CPUs, has not got that far. */
bool pairing_stacks_read(struct guest_kernel *g, const struct guestsym *gs, unsigned int vcpus,
			 struct pairing_stacks *stacks);

#endif
