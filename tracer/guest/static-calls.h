/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * static-calls.h - where the kernel image makes static calls (include/linux/static_call.h). One at
 * the end of a function may be a return for now: the kernel patches it, and checks what it finds.
 */
#ifndef HVTRACE_TRACER_GUEST_STATIC_CALLS_H
#define HVTRACE_TRACER_GUEST_STATIC_CALLS_H

#include "tracer/guest/guest.h"

struct static_calls {
	uint64_t *va; /* run-time addresses, in their order */
	size_t nr;
};

/* Of a kernel without them there are none. 0, -ENOMEM, or -EFAULT: they cannot be read. */
int static_calls_read(struct guest_kernel *g, const struct guestsym *gs,
		      struct static_calls *calls);
void static_calls_free(struct static_calls *calls);
bool static_calls_has(const struct static_calls *calls, uint64_t va);

#endif
