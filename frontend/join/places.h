/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * places.h - where the addresses of each guest's kernel are in one file.
 *
 * The first guest's stay as they are. Those of a guest whose symbols lie elsewhere, as other
 * kernels' do and those of one that KASLR has moved, go where no kernel has anything: of the hole
 * of 444 GiB at 0xffffff8000000000 (Documentation/arch/x86/x86_64/mm.rst) each guest gets 4 GiB,
 * the lower half for what is in the 2 GiB of kernel text and modules, the upper half for formats of
 * trace_printk() that lie anywhere else. Guests whose symbols are the same share a place.
 */
#ifndef HVTRACE_FRONTEND_JOIN_PLACES_H
#define HVTRACE_FRONTEND_JOIN_PLACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "frontend/dat/dat.h"
#include "tracer/tracer.h"

/* Parts of the texts that all have. */
struct place_texts {
	uint64_t symbols, symbols_len, formats, formats_len;
};

struct place {
	uint64_t sum, len; /* of what the file says */
	struct place_texts texts;
};

struct places {
	struct place place[DAT_PARTS_MAX];
	size_t nr;
	struct text symbols, formats; /* of all, as a trace.dat has them */
};

/* How one file's addresses are moved. */
struct place_move {
	uint64_t base;	 /* 0: they are not */
	uint64_t *other; /* formats outside of the text: rising */
	size_t nr_other;
};

void places_exit(struct places *p);
void place_move_exit(struct place_move *m);
/* Take over what a file has of symbols and formats. 0 or -ENOMEM. */
int places_add(struct places *p, const struct dat_info *info, struct place_texts *texts,
	       struct place_move *m);
static inline bool place_moves(const struct place_move *m)
{
	return m->base;
}
uint64_t place_of(const struct place_move *m, uint64_t addr);

#endif
