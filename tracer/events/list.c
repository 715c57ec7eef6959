// SPDX-License-Identifier: GPL-2.0-or-later
/* list.c - see list.h */
#include "tracer/events/list.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* The list as somebody may be looking at it. */
struct view {
	struct view *older;
	struct guestsym_event_list list;
};

struct event_list {
	struct guestsym_event *v;
	size_t nr_read, room;
	struct view *_Atomic now;
	struct probe_event_made own[EVENTS_OWN];
};

static struct view *view_new(const struct guestsym_event_list *list, struct view *older)
{
	struct view *view = malloc(sizeof(*view));

	if (view)
		*view = (struct view){older, *list};
	return view;
}

/*
 * The kernel gives ids in order, to modules that are still to be loaded as well: ours are the last
 * ones.
 */
static uint16_t own_id(size_t own)
{
	return (uint16_t)(UINT16_MAX - EVENTS_OWN + 1 + own);
}

struct event_list *event_list_new(const struct guestsym_event_list *read)
{
	struct event_list *l = calloc(1, sizeof(*l));
	struct guestsym_event_list list = *read;
	struct view *view;

	if (!l)
		return NULL;
	l->nr_read = read->n;
	l->room = read->n + EVENTS_OWN;
	l->v = calloc(l->room, sizeof(*l->v));
	if (l->v && read->n)
		memcpy(l->v, read->v, read->n * sizeof(*l->v));
	list.v = l->v;
	view = view_new(&list, NULL);
	l->now = view;
	if (l->v && view)
		return l;
	event_list_free(l);
	return NULL;
}

void event_list_free(struct event_list *l)
{
	if (!l)
		return;
	for (struct view *view = l->now, *older; view; view = older) {
		older = view->older;
		free(view);
	}
	for (size_t i = 0; i < EVENTS_OWN; i++)
		probe_event_unmake(&l->own[i]);
	free(l->v);
	free(l);
}

const struct guestsym_event_list *event_list_now(const struct event_list *l)
{
	return &l->now->list;
}

size_t event_list_room(const struct event_list *l)
{
	return l->room;
}

uint32_t event_list_find(const struct event_list *l, const char *system, const char *name)
{
	const struct guestsym_event_list *list = event_list_now(l);

	for (uint32_t i = 0; i < list->n; i++)
		if (!guestsym_event_is_gone(&list->v[i]) && !strcmp(system, list->v[i].system) &&
		    !strcmp(name, list->v[i].name))
			return i;
	return EVENT_LIST_NONE;
}

static bool same_field(const struct guestsym_event_field *a, const struct guestsym_event_field *b)
{
	return !strcmp(a->type, b->type) && !strcmp(a->name, b->name) && a->offset == b->offset &&
	       a->size == b->size && a->is_signed == b->is_signed;
}

static bool same_event(const struct guestsym_event *a, const struct guestsym_event *b)
{
	if (strcmp(a->system, b->system) != 0 || strcmp(a->name, b->name) != 0 ||
	    strcmp(a->print_fmt, b->print_fmt) != 0 || a->nr_fields != b->nr_fields)
		return false;
	for (size_t i = 0; i < a->nr_fields; i++)
		if (!same_field(&a->fields[i], &b->fields[i]))
			return false;
	return true;
}

/* A place that has had the same event, or one that has had none. */
static size_t place_for(const struct event_list *l, const struct guestsym_event *ev)
{
	size_t n = l->now->list.n;

	for (size_t i = l->nr_read; i < n; i++)
		if (guestsym_event_is_gone(&l->v[i]) && same_event(&l->v[i], ev))
			return i;
	return n;
}

static void mark_gone(struct guestsym_event *ev, bool gone)
{
	uint32_t flags = ev->flags & ~(uint32_t)GUESTSYM_EVENT_FL_GONE;

	__atomic_store_n(&ev->flags, gone ? flags | GUESTSYM_EVENT_FL_GONE : flags,
			 __ATOMIC_RELAXED);
}

int event_list_add(struct event_list *l, struct probe_event_made *made, uint32_t *event)
{
	struct guestsym_event_list list = l->now->list;
	size_t at = place_for(l, &made->event), own = at - l->nr_read;
	struct view *view;

	if (at == l->room)
		return -ENOSPC;
	if (at == list.n)
		list.n++;
	/* A list of its own also when the place is not new: who keeps things by it sees a change.
	 */
	view = view_new(&list, l->now);
	if (!view)
		return -ENOMEM;
	if (l->own[own].print_fmt) {
		probe_event_unmake(made);
		mark_gone(&l->v[at], false);
	} else {
		l->own[own] = *made;
		l->v[at] = made->event;
		l->v[at].id = own_id(own);
		*made = (struct probe_event_made){0};
	}
	*event = (uint32_t)at;
	atomic_store(&l->now, view);
	return 0;
}

int event_list_join(struct event_list *l, const struct guestsym_event *ev, uint32_t *event)
{
	struct guestsym_event_list list = l->now->list;
	size_t at = l->nr_read;
	struct view *view;

	/* Its old place, if it has its old id: records of it are still known by that. */
	while (at < list.n && !(guestsym_event_is_gone(&l->v[at]) && l->v[at].id == ev->id &&
				same_event(&l->v[at], ev)))
		at++;
	if (at == l->room || ev->id >= own_id(0))
		return -ENOSPC;
	if (at == list.n)
		list.n++;
	view = view_new(&list, l->now);
	if (!view)
		return -ENOMEM;
	l->v[at] = *ev;
	*event = (uint32_t)at;
	atomic_store(&l->now, view);
	return 0;
}

void event_list_remove(struct event_list *l, uint32_t event)
{
	struct view *view = view_new(&l->now->list, l->now);

	mark_gone(&l->v[event], true);
	/* Without memory, who keeps things by the list goes on showing the event for a while. */
	if (view)
		atomic_store(&l->now, view);
}
