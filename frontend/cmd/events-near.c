// SPDX-License-Identifier: GPL-2.0-or-later
/* events-near.c - see events-near.h */
#include "frontend/cmd/events-near.h"

#include <stdio.h>
#include <string.h>

void events_near_begin(struct events_near *n, const char *glob)
{
	size_t len = glob ? strcspn(glob, ":") : 0;
	char system[NEAREST_LEN] = "";

	n->glob = glob ? glob : "";
	if (len < sizeof(system) && n->glob[len])
		snprintf(system, sizeof(system), "%.*s", (int)len, glob);
	nearest_begin(&n->name, n->glob);
	nearest_begin(&n->system, system);
}

void events_near_try(struct events_near *n, const struct guestsym_event *ev)
{
	char both[512];

	if (ev->source == GUESTSYM_EVENT_FTRACE)
		return;
	nearest_try(&n->system, ev->system);
	if (strchr(n->glob, ':')) {
		snprintf(both, sizeof(both), "%s:%s", ev->system, ev->name);
		nearest_try(&n->name, both);
	} else {
		nearest_try(&n->name, ev->name);
		nearest_try(&n->name, ev->system);
	}
}

void events_near_try_function(struct events_near *n, const char *name)
{
	nearest_try(&n->name, name);
}

const char *events_near_hint(const struct events_near *n, char *hint, size_t size)
{
	const char *colon = strchr(n->glob, ':'), *system = nearest_name(&n->system);

	nearest_hint(&n->name, "", hint, size);
	if (!*hint && colon && system)
		snprintf(hint, size, "; did you mean %s%s?", system, colon);
	return hint;
}
