/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * static-calls.h - where the kernel and its modules make static calls
 * (include/linux/static_call.h). One at the end of a function may be a return for now, as whatever
 * it calls is still to be there: the kernel patches it, and checks what it finds
 * (__static_call_validate() of arch/x86/kernel/static_call.c, 6.1), which ends in BUG() where that
 * is something else.
 */
#ifndef HVTRACE_TRACER_GUEST_STATIC_CALLS_H
#define HVTRACE_TRACER_GUEST_STATIC_CALLS_H

#include "tracer/guest/guest.h"

struct module_list;

struct static_calls {
	uint64_t *va; /* run-time addresses, in their order */
	size_t nr;
	/* The text of modules that do not say where theirs are is within it; end 0: of none. */
	struct guestsym_range unknown;
};

/* Of a kernel without them there are none. 0, -ENOMEM, or -EFAULT: they cannot be read. */
int static_calls_read(struct guest_kernel *g, const struct guestsym *gs,
		      struct static_calls *calls);
/* Those of the modules that there are: 0 or -ENOMEM. */
int static_calls_read_modules(struct guest_kernel *g, const struct guestsym *gs,
			      const struct module_list *modules, struct static_calls *calls);
void static_calls_free(struct static_calls *calls);
/* Whether there is one at va, or may be. */
bool static_calls_has(const struct static_calls *calls, uint64_t va);

#endif
