/* SPDX-License-Identifier: GPL-2.0-or-later */
/* unwind-internal.h - shared by unwind.c and unwind-tables.c */
#ifndef HVTRACE_TRACER_UNWIND_INTERNAL_H
#define HVTRACE_TRACER_UNWIND_INTERNAL_H

#include "tracer/orc.h"
#include "tracer/unwind.h"

struct unwind_module {
	struct guestsym_range text;
	struct orc_table orc; /* run-time addresses */
};

struct unwind {
	struct orc_table orc;	       /* of the kernel, link addresses; empty: frame pointers */
	struct guestsym_range text[2]; /* of the kernel, link addresses: all the time, init */
	struct unwind_module *mods;
	size_t nr_mods;
};

/* push %rbp; mov %rsp, %rbp */
#define UNWIND_PROLOGUE	     "\x55\x48\x89\xe5"
#define UNWIND_PROLOGUE_SIZE 4

#endif
