/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * iomaps.h - the memory of devices that a guest's kernel has mapped by ioremap(), by its own list
 * of what lies in its vmalloc space.
 */
#ifndef HVTRACE_TRACER_GUEST_IOMAPS_H
#define HVTRACE_TRACER_GUEST_IOMAPS_H

#include <stddef.h>
#include <stdint.h>

#include "tracer/guest/guest.h"

/* Whole pages: how much of the first and the last one was asked for the list does not tell. */
struct iomap {
	uint64_t phys, virt, len;
};

struct iomaps {
	struct iomap *v; /* in the list's order */
	size_t n;
};

/*
 * Those that there are now; the machine is paused. 0; -ENODATA: the kernel's types or symbols do
 * not tell; -EFAULT: it has not come so far yet, or its memory makes no sense; -E2BIG: there is no
 * end to them; -ENOMEM.
 * Only with 0 there is something for iomaps_free().
 */
int iomaps_read(struct guest_kernel *g, const struct guestsym *gs, struct iomaps *to);
void iomaps_free(struct iomaps *m); /* all zero is allowed */

#endif
