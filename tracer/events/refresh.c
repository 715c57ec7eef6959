// SPDX-License-Identifier: GPL-2.0-or-later
/* refresh.c - the list of events anew, when modules have come or gone. */
#include "tracer/events/list.h"
#include "tracer/events/registry.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool same_one(const struct guestsym_event *a, const struct guestsym_event *b)
{
	return a->call == b->call && a->id == b->id && !strcmp(a->name, b->name) &&
	       !strcmp(a->system, b->system);
}

static bool is_in(const struct guestsym_event_list *list, const struct guestsym_event *ev)
{
	for (size_t i = 0; i < list->n; i++)
		if (!guestsym_event_is_gone(&list->v[i]) && same_one(&list->v[i], ev))
			return true;
	return false;
}

static void forget(struct events *e, uint32_t event)
{
	trace_change_begin(e->t);
	trace_writers_stop(e->t);
	e->ops->forget(e->t, event);
	trace_writers_go(e->t);
	trace_change_end(e->t);
	event_list_remove(e->all, event);
}

static void those_gone(struct events *e, const struct guestsym_event_list *now)
{
	const struct guestsym_event_list *list = events_list(e);

	for (uint32_t i = 0; i < list->n; i++) {
		const struct guestsym_event *ev = &list->v[i];

		if (ev->module && !guestsym_event_is_gone(ev) && !e->registered[i] &&
		    !is_in(now, ev))
			forget(e, i);
	}
}

static void tell_full(struct events *e)
{
	if (!e->full)
		trace_note(e->t, "modules have brought more trace events than there is room for: "
				 "some are left out");
	e->full = true;
}

static int join(struct events *e, const struct guestsym_event *ev)
{
	uint32_t event;
	int ret = event_list_join(e->all, ev, &event);

	return ret ? ret : events_printed(e, event);
}

static int those_new(struct events *e, const struct guestsym_event_list *now)
{
	int ret = 0;

	for (size_t i = 0; i < now->n && !ret; i++) {
		if (!now->v[i].module || is_in(events_list(e), &now->v[i]))
			continue;
		ret = join(e, &now->v[i]);
		if (ret == -ENOSPC) {
			tell_full(e);
			ret = 0;
		}
	}
	return ret;
}

int events_refresh(struct events *e)
{
	struct trace *t = e->t;
	const struct guestsym_memory mem = guest_memory(&t->guest);
	struct guestsym_event_list now;
	int ret;

	/* A kernel that boots may not have made its list yet. */
	if (!events_ready(e) || e->closed)
		return 0;
	atomic_store(&e->stale, false); /* from here on others count anew */
	if (guestsym_events_read(t->gs, &mem, t->guest.slide, &now))
		return 0; /* it has just changed, or the guest has gone */
	those_gone(e, &now);
	ret = those_new(e, &now);
	guestsym_events_free(&now);
	return ret;
}
