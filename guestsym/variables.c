// SPDX-License-Identifier: GPL-2.0-or-later
/* variables.c - what some variables hold in an image. */
#include "guestsym/internal.h"

void variables_read(struct variables *v, const struct elf_image *e, const struct symbols *s)
{
	static const char *const names[NR_GUESTSYM_VARIABLES] = {
		[GUESTSYM_JIFFIES_64] = "jiffies_64",
		[GUESTSYM_TICK_NSEC] = "tick_nsec",
	};

	for (int i = 0; i < NR_GUESTSYM_VARIABLES; i++) {
		const struct guestsym_symbol *sym = symbols_lookup(s, names[i]);
		const uint8_t *p = sym ? elf_image_at(e, sym->addr, 8) : NULL;

		if (!p)
			continue;
		v->value[i] = get_u64(p);
		v->known |= UINT64_C(1) << i;
	}
}
