/* SPDX-License-Identifier: GPL-2.0-or-later */
/* modules-gone.h - what is kept of modules that have gone; for modules.c, which has a lock. */
#ifndef HVTRACE_TRACER_GUEST_MODULES_GONE_H
#define HVTRACE_TRACER_GUEST_MODULES_GONE_H

#include "tracer/guest/guest.h"

/* In one piece of memory. */
struct gone_module {
	struct guestsym_range text; /* when it was there */
	struct guestsym_range left; /* without the ends where another one lies by now */
	size_t bytes;
	size_t nr_syms;
	const char *name;
	struct guestsym_symbol syms[];
};

struct gone_modules {
	struct gone_module **v; /* what has gone last comes last */
	size_t nr, room;
	size_t bytes;
	uint64_t forgotten; /* so many for want of room */
};

void gone_modules_free(struct gone_modules *gone);
/* Keep the names of mod, as far as there is memory for them. */
void gone_modules_add(struct gone_modules *gone, const struct guestsym_module *mod);
/* These lie where they lie: what was there before is not found any more. */
void gone_modules_trim(struct gone_modules *gone, const struct guestsym_module *now, size_t nr);
/* Of what has gone last, if it was several times something. NULL: none. */
const struct guestsym_symbol *gone_modules_find(const struct gone_modules *gone, uint64_t addr,
						uint64_t *size, const char **module);

/* One of them is all over this text. */
bool modules_cover(const struct guestsym_module *mods, size_t nr,
		   const struct guestsym_range *text);
/* The last symbol that begins at addr or before, of some that are sorted; the last ends at end. */
const struct guestsym_symbol *symbol_in(const struct guestsym_symbol *syms, size_t nr, uint64_t end,
					uint64_t addr, uint64_t *size);

#endif
