/* SPDX-License-Identifier: GPL-2.0-or-later */
/* internal.h - shared by unwind.c and tables.c */
#ifndef HVTRACE_TRACER_UNWIND_INTERNAL_H
#define HVTRACE_TRACER_UNWIND_INTERNAL_H

#include "tracer/unwind/orc.h"
#include "tracer/unwind/unwind.h"

struct unwind_module {
	struct guestsym_range text;
	struct orc_table orc; /* run-time addresses */
};

/* Where the kernel keeps what its probes of returns have replaced. */
struct unwind_hooks {
	uint64_t link;	/* what they have put there, a link address; 0: nothing is known */
	uint32_t first; /* in struct task_struct: of the list */
	uint32_t node, ret, frame; /* in an entry of it */
};

void unwind_hooks_learn(struct unwind_hooks *h, const struct guestsym *gs);
/*
 * *ip was read at address slot of a stack: what was there before, if it was replaced and that can
 * be told.
 */
void unwind_hooks_return(const struct unwind_hooks *h, struct guest_kernel *g, uint64_t slot,
			 uint64_t *ip);

struct unwind {
	struct unwind_hooks hooks;
	struct orc_table orc;	       /* of the kernel, link addresses; empty: frame pointers */
	struct guestsym_range text[2]; /* of the kernel, link addresses: all the time, init */
	struct unwind_module *mods;
	size_t nr_mods;
};

/* push %rbp; mov %rsp, %rbp */
#define UNWIND_PROLOGUE	     "\x55\x48\x89\xe5"
#define UNWIND_PROLOGUE_SIZE 4

#endif
