/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * call-type.h - what a kernel wants to find in front of a function that it calls by address, where
 * Clang has built it with checks of that (CONFIG_CFI_CLANG).
 *
 * The type of a function is a hash in front of its code, and who calls by address compares it
 * first (kCFI); or, as the kernel may choose when it boots, the function's own preamble compares it
 * (FineIBT). The kernel may also change all hashes at boot (cfi_rand;
 * arch/x86/kernel/alternative.c, 6.12). So what there is to be is read, while the guest runs, in
 * front of a function of the kernel's own that has the type.
 */
#ifndef HVTRACE_TRACER_GUEST_CALL_TYPE_H
#define HVTRACE_TRACER_GUEST_CALL_TYPE_H

#include "tracer/guest/guest.h"

#define CALL_TYPE_SIZE 16 /* bytes in front of a function */

enum call_type {
	CALL_TYPE_WORK,	     /* void (struct work_struct *) */
	CALL_TYPE_KPROBE,    /* int (struct kprobe *, struct pt_regs *) */
	CALL_TYPE_KRETPROBE, /* int (struct kretprobe_instance *, struct pt_regs *) */
	CALL_TYPE_UPROBE,    /* int (struct uprobe_consumer *, struct pt_regs *) */
	CALL_TYPE_URETPROBE, /* int (struct uprobe_consumer *, unsigned long, struct pt_regs *) */
	CALL_TYPES,
};

/* Whether it checks at all. */
bool call_types_are_checked(const struct guestsym *gs);
/*
 * What goes in front of a function that is to be called as one of these; int3, where nothing is
 * wanted or known. False: this kernel checks, and it is not known what it wants to find.
 */
bool call_type_read(const struct guestsym *gs, struct guest_kernel *g, enum call_type type,
		    uint8_t bytes[CALL_TYPE_SIZE]);

#endif
