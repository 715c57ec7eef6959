/* SPDX-License-Identifier: GPL-2.0-or-later */
/* events-list.h - what `hvtrace events` prints of the events that there are. */
#ifndef HVTRACE_FRONTEND_CMD_EVENTS_LIST_H
#define HVTRACE_FRONTEND_CMD_EVENTS_LIST_H

#include <stdbool.h>

#include "frontend/cmd/traceable.h"
#include "guestsym/guestsym.h"

struct registry_guest;

/* Which of them, and how. */
struct events_choice {
	bool verbose, all, json;
	char **globs; /* none: all */
	int nr_globs;
};

/* What there is. */
struct events_lists {
	struct guestsym_event_list events;
	struct traceable functions; /* with .all */
};

/* Both print to stdout. The exit status; what goes wrong is said on stderr. */
int events_list_print(const struct events_choice *o, const struct events_lists *lists);
/* Those of a guest that is traced already, as its trace tells them. */
int events_list_live(const struct events_choice *o, const struct registry_guest *g);

#endif
