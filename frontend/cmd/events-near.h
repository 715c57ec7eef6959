/* SPDX-License-Identifier: GPL-2.0-or-later */
/* events-near.h - which events a GLOB may have meant that matches none. */
#ifndef HVTRACE_FRONTEND_CMD_EVENTS_NEAR_H
#define HVTRACE_FRONTEND_CMD_EVENTS_NEAR_H

#include "guestsym/guestsym.h"
#include "tracer/tracer.h"

struct events_near {
	const char *glob;
	struct nearest name, system; /* of a pattern behind a colon: only its system */
};

/* glob must stay; NULL: none is looked for. */
void events_near_begin(struct events_near *n, const char *glob);
/* Those that there are. */
void events_near_try(struct events_near *n, const struct guestsym_event *ev);
void events_near_try_function(struct events_near *n, const char *name);
/* "; did you mean ...?", or "". Returns hint. */
const char *events_near_hint(const struct events_near *n, char *hint, size_t size);

#endif
