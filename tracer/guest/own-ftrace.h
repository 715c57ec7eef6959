/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * own-ftrace.h - what the guest's own ftrace has at its functions: kprobes, BPF programs, live
 * patches and tracers of its own, as its records of sites tell (struct dyn_ftrace).
 */
#ifndef HVTRACE_TRACER_GUEST_OWN_FTRACE_H
#define HVTRACE_TRACER_GUEST_OWN_FTRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tracer/guest/guest.h"

/* A site that has something, or (since 6.4) has had it. */
struct own_site {
	uint64_t va; /* of the call, at run time */
	uint32_t callbacks;
	bool regs, ipmodify, direct, call_ops, touched, modified;
};

struct own_sites {
	struct own_site *v; /* by address */
	size_t n;
};

/*
 * Those that there are now, of modules too; the guest may run meanwhile. 0; -ENODATA: the kernel's
 * types or symbols do not tell; -EFAULT: its memory makes no sense; -E2BIG: there is no end to
 * them; -ENOMEM. Only with 0 there is something for own_sites_free().
 */
int own_sites_read(struct guest_kernel *g, const struct guestsym *gs, struct own_sites *to);
/* That of a call, or NULL. */
const struct own_site *own_sites_find(const struct own_sites *s, uint64_t va);
void own_sites_free(struct own_sites *s); /* all zero is allowed */

#endif
