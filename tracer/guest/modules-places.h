/* SPDX-License-Identifier: GPL-2.0-or-later */
/* modules-places.h - which module an address is in, of thousands, while the guest may stand. */
#ifndef HVTRACE_TRACER_GUEST_MODULES_PLACES_H
#define HVTRACE_TRACER_GUEST_MODULES_PLACES_H

#include "guestsym/guestsym.h"

#include <stddef.h>
#include <stdint.h>

/* The text of a module; sorted by where it begins. */
struct module_place {
	uint64_t start, end;
	size_t mod; /* its index */
};

/* One for each of n modules, to be freed. NULL: no memory. */
struct module_place *module_places_new(const struct guestsym_module *mods, size_t n);

struct module_search {
	uint64_t addr;
	unsigned int looks; /* that it has taken */
};

/*
 * The place that the address is in, or NULL. Texts of a kernel's modules do not overlap; where a
 * list is a lie it is the one that begins last.
 */
const struct module_place *module_places_find(const struct module_place *places, size_t n,
					      struct module_search *s);

#endif
