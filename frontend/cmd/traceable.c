// SPDX-License-Identifier: GPL-2.0-or-later
/* traceable.c - see traceable.h */
#include "frontend/cmd/traceable.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool stays(const struct guestsym_site *site)
{
	return !(site->flags & (GUESTSYM_SITE_INVALID | GUESTSYM_SITE_INIT));
}

int traceable_read(struct traceable *to, const struct guestsym *gs)
{
	const struct guestsym_site *sites;
	size_t n = guestsym_fentry_sites(gs, &sites), len = 0;

	*to = (struct traceable){0};
	for (size_t i = 0; i < n; i++)
		if (stays(&sites[i]))
			len += strlen(sites[i].name) + 1;
	to->text = malloc(len + 1);
	if (!to->text)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		size_t size = strlen(sites[i].name) + 1;

		if (!stays(&sites[i]))
			continue;
		memcpy(to->text + to->len, sites[i].name, size);
		to->len += size;
		to->nr++;
	}
	return 0;
}

void traceable_free(struct traceable *t)
{
	free(t->text);
	*t = (struct traceable){0};
}
