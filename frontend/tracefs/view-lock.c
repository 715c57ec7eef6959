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

/* Lists that are made anew are those with events of the host. */
static bool is_current(const struct event_index *index, const struct guestsym_event_list *list)
{
	return index && index->list == list;
}

const struct event_index *view_events(struct view *v)
{
	struct event_index *index = __atomic_load_n(&v->events, __ATOMIC_ACQUIRE), *made;
	const struct guestsym_event_list *list;

	/* The guest is asked before anything is locked: it may take a while. */
	if (trace_events(v->trace, &list) || is_current(index, list))
		return index;
	view_lock(v);
	index = v->events;
	if (!is_current(index, list)) {
		made = event_index_new(list, format_is_ours);
		if (made) {
			made->older = index;
			index = made;
			__atomic_store_n(&v->events, index, __ATOMIC_RELEASE);
		}
	}
	view_unlock(v);
	return index;
}
