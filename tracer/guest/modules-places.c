// SPDX-License-Identifier: GPL-2.0-or-later
/* modules-places.c - see modules-places.h */
#include "tracer/guest/modules-places.h"

#include <stdlib.h>

static int by_start(const void *a, const void *b)
{
	const struct module_place *p = a, *q = b;

	return (p->start > q->start) - (p->start < q->start);
}

struct module_place *module_places_new(const struct guestsym_module *mods, size_t n)
{
	struct module_place *places = calloc(n + 1, sizeof(*places));

	if (!places)
		return NULL;
	for (size_t i = 0; i < n; i++)
		places[i] = (struct module_place){mods[i].text.start, mods[i].text.end, i};
	qsort(places, n, sizeof(*places), by_start);
	return places;
}

const struct module_place *module_places_find(const struct module_place *places, size_t n,
					      struct module_search *s)
{
	size_t low = 0,
	       high = n; /* those before low begin at the address or below, from high on not */

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		s->looks++;
		if (places[mid].start <= s->addr)
			low = mid + 1;
		else
			high = mid;
	}
	return low && s->addr < places[low - 1].end ? &places[low - 1] : NULL;
}
