/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * list.h - the trace events that there are: those that the guest's kernel has had when it was
 * read, and behind them those that come and go: of modules, and of the host itself.
 *
 * An event keeps its place for good. One that has gone is marked so and has its place again when
 * the same is made anew; one of a module with another id, then, by which its records from before
 * are not known: these are printed by output/fmt/print.h. Any thread may look at the list; changes
 * are for one at a time.
 */
#ifndef HVTRACE_TRACER_EVENTS_LIST_H
#define HVTRACE_TRACER_EVENTS_LIST_H

#include "tracer/events/define/probe.h"

#define EVENTS_OWN 4096 /* that ever were: of the host, and of modules that were loaded later */

struct event_list;

/* read outlives it. NULL: no memory. */
struct event_list *event_list_new(const struct guestsym_event_list *read);
void event_list_free(struct event_list *l); /* NULL is allowed */

/* As it is now; what was given stays valid, and as it was but for marks. */
const struct guestsym_event_list *event_list_now(const struct event_list *l);
/* How often there was one more, or one less: read before the list, for who keeps things by it. */
uint64_t event_list_changes(const struct event_list *l);
/* So many it may become. */
size_t event_list_room(const struct event_list *l);
/* The event of that name, EVENT_LIST_NONE. */
uint32_t event_list_find(const struct event_list *l, const char *system, const char *name);
#define EVENT_LIST_NONE UINT32_MAX

/* Takes what was made and gives it an id. 0, -ENOSPC, -ENOMEM: then it is the caller's still. */
int event_list_add(struct event_list *l, struct probe_event_made *made, uint32_t *event);
/* One of a module of the guest's, which is copied, with the id that it has there. 0, -ENOSPC,
 * -ENOMEM.
 */
int event_list_join(struct event_list *l, const struct guestsym_event *ev, uint32_t *event);
/* One of either kind. */
void event_list_remove(struct event_list *l, uint32_t event);

#endif
