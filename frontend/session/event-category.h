/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * event-category.h - sets of trace events under the names that Android's atrace gives them, for
 * whoever is used to `atrace sched gfx`: @sched, @gfx.
 */
#ifndef HVTRACE_FRONTEND_SESSION_EVENT_CATEGORY_H
#define HVTRACE_FRONTEND_SESSION_EVENT_CATEGORY_H

#include <stdbool.h>

struct guestsym_event;

struct event_category {
	const char *name, *what;
	const char *const *events; /* "SYSTEM:GLOB"s, up to NULL; a kernel has some of them */
};

/* Whether what names events names a category: "@NAME". */
bool event_category_is_named(const char *text);
/* The i-th of all; NULL: there are no more. */
const struct event_category *event_category(unsigned int i);
/* That of "@NAME"; NULL: there is none of that name. */
const struct event_category *event_category_find(const char *text);
bool event_category_has(const struct event_category *c, const struct guestsym_event *ev);
/* There is none of that name: one line on stderr, which begins with `where`, says what there is. */
void event_category_complain(const char *where, const char *text);

#endif
