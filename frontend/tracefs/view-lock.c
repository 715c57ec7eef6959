// SPDX-License-Identifier: GPL-2.0-or-later
/* view-lock.c - what the tables of files ask of their view: they know it by these alone. */
#include "frontend/tracefs/view-internal.h"

void view_lock(struct view *v)
{
	pthread_mutex_lock(&v->lock);
}

void view_unlock(struct view *v)
{
	pthread_mutex_unlock(&v->lock);
}

const char *view_machine(const struct view *v)
{
	return v->machine;
}

/* --- events -------------------------------------------------------------------------------- */

static void put(struct event_index *index)
{
	if (index && !--index->users)
		event_index_free(index);
}

/* The view itself uses the latest one. Without memory that stays the one before. */
static void update(struct view *v, const struct guestsym_event_list *list, uint64_t changes)
{
	struct event_index *made;

	if (v->events && v->events->changes == changes)
		return;
	made = event_index_new(list, format_is_ours);
	if (!made)
		return;
	made->users = 1;
	made->changes = changes;
	put(v->events);
	v->events = made;
}

struct event_index *view_events(struct view *v)
{
	const struct guestsym_event_list *list;
	struct event_index *index;
	uint64_t changes;
	bool told;

	/* The guest is asked before anything is locked: it may take a while. */
	trace_events(v->trace, &list);
	changes = trace_events_changes(v->trace);
	told = !trace_events(v->trace, &list);
	view_lock(v);
	if (told)
		update(v, list, changes);
	index = v->events;
	if (index)
		index->users++;
	view_unlock(v);
	return index;
}

void view_events_put(struct view *v, struct event_index *index)
{
	view_lock(v);
	put(index);
	view_unlock(v);
}

const struct guestsym_event *view_event(struct view *v, uint32_t event)
{
	const struct guestsym_event_list *list;

	return trace_events(v->trace, &list) || event >= list->n ? NULL : &list->v[event];
}
