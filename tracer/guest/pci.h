/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pci.h - the PCI devices of a guest, by its kernel's lists, as mmiotrace tells of them. */
#ifndef HVTRACE_TRACER_GUEST_PCI_H
#define HVTRACE_TRACER_GUEST_PCI_H

#include "tracer/guest/guest.h"
#include "tracer/lib/text.h"

/*
 * A line "PCIDEV ..." for each, in the order in which the kernel has found them
 * (mmio_print_pcidev() in kernel/trace/trace_mmiotrace.c). None where its types or symbols do not
 * tell, or it has no PCI; what a list that makes no sense has before that. The guest may run.
 */
void pci_print_devices(struct guest_kernel *g, const struct guestsym *gs, struct text *out);

#endif
