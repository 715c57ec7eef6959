// SPDX-License-Identifier: GPL-2.0-or-later
/* list.c - the events that were defined, in their order: see events/define/dyn-event.h */
#include "tracer/core/trace.h"
#include "tracer/events/define/dyn-event.h"

void dyn_event_add(struct trace *t, struct dyn_event *ev, const struct dyn_event_ops *ops,
		   void *owner)
{
	struct dyn_event **at = &t->dyn_events;

	while (*at)
		at = &(*at)->next;
	*ev = (struct dyn_event){.ops = ops, .owner = owner};
	*at = ev;
}

void dyn_event_remove(struct trace *t, struct dyn_event *ev)
{
	struct dyn_event **at = &t->dyn_events;

	while (*at && *at != ev)
		at = &(*at)->next;
	if (*at)
		*at = ev->next;
}
