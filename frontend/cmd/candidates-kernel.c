// SPDX-License-Identifier: GPL-2.0-or-later
/* candidates-kernel.c - functions and events of a kernel. */
#include "frontend/cmd/candidates.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/session/event-category.h"
#include "frontend/session/kernel-find.h"
#include "guestsym/guestsym.h"

/* hvtrace run and record run: of that guest init functions can be traced, too. */
static bool guest_boots(const struct candidates *c)
{
	int i = c->nr_words > 1 && !strcmp(c->words[0], "record");

	return c->nr_words > i && !strcmp(c->words[i], "run");
}

static void offer_functions(struct candidates *c, const struct guestsym *gs)
{
	int never = GUESTSYM_SITE_INVALID | (guest_boots(c) ? 0 : GUESTSYM_SITE_INIT);
	const struct guestsym_site *sites;
	size_t n = guestsym_fentry_sites(gs, &sites);

	for (size_t i = 0; i < n; i++)
		if (!(sites[i].flags & never))
			candidates_offer(c, sites[i].name);
}

static void offer_events(struct candidates *c, const struct guestsym *gs)
{
	struct guestsym_event_list list;

	if (guestsym_events_image(gs, 0, &list))
		return;
	for (size_t i = 0; i < list.n; i++)
		if (list.v[i].source != GUESTSYM_EVENT_FTRACE)
			candidates_offer_event(c, list.v[i].system, list.v[i].name);
	guestsym_events_free(&list);
}

/* That is named, the domain's, or what hvtrace run would boot: most have much the same. */
static void of_kernel(struct candidates *c,
		      void (*offer_all)(struct candidates *c, const struct guestsym *gs))
{
	const char *named = candidates_value(c, "-k", "--kernel");
	char *found = named ? NULL : candidates_domain_kernel(c), err[512];
	struct guestsym_parsers *parsers = NULL;
	struct guestsym *gs = NULL;

	if (!named && !found)
		found = kernel_find();
	if ((named || found) && !guestsym_parsers_start(&parsers, -1, err, sizeof(err)))
		gs = guestsym_open(parsers, named ? named : found, 0, err, sizeof(err));
	if (gs)
		offer_all(c, gs);
	guestsym_close(gs);
	guestsym_parsers_stop(parsers);
	free(found);
}

void candidates_functions(struct candidates *c)
{
	of_kernel(c, offer_functions);
}

void candidates_events(struct candidates *c)
{
	const struct event_category *category;
	char name[64];

	for (unsigned int i = 0; (category = event_category(i)); i++) {
		snprintf(name, sizeof(name), "@%s", category->name);
		candidates_offer(c, name);
	}
	if (*c->begun != '@')
		of_kernel(c, offer_events);
}
