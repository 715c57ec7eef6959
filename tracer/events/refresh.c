// SPDX-License-Identifier: GPL-2.0-or-later
/* refresh.c - the list of events anew, when modules have come or gone. */
#include "tracer/events/list.h"
#include "tracer/events/registry.h"
#include "tracer/guest/guest.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define AT_ONCE 1024 /* events that are forgotten in one pause */

/* --- those of a list by what they are --------------------------------------------------------- */

/* A guest says how many there are: looking for each in a list would take as long as it likes. */
struct index {
	const struct guestsym_event **v; /* those that are there, each of them once */
	size_t n;
};

static int compare(const struct guestsym_event *a, const struct guestsym_event *b)
{
	int names;

	if (a->call != b->call)
		return a->call < b->call ? -1 : 1;
	if (a->id != b->id)
		return a->id < b->id ? -1 : 1;
	names = strcmp(a->name, b->name);
	return names ? names : strcmp(a->system, b->system);
}

static int compare_elements(const void *a, const void *b)
{
	return compare(*(const struct guestsym_event *const *)a,
		       *(const struct guestsym_event *const *)b);
}

/* And the same one in the order of the list. */
static int compare_in_order(const void *a, const void *b)
{
	const struct guestsym_event *x = *(const struct guestsym_event *const *)a;
	const struct guestsym_event *y = *(const struct guestsym_event *const *)b;
	int ret = compare(x, y);

	return ret ? ret : (x > y) - (x < y);
}

static int index_make(struct index *index, const struct guestsym_event_list *list)
{
	size_t n = 0, kept = 0;

	index->v = malloc((list->n + 1) * sizeof(*index->v));
	if (!index->v)
		return -ENOMEM;
	for (size_t i = 0; i < list->n; i++)
		if (!guestsym_event_is_gone(&list->v[i]))
			index->v[n++] = &list->v[i];
	qsort(index->v, n, sizeof(*index->v), compare_in_order);
	for (size_t i = 0; i < n; i++)
		if (!kept || compare(index->v[kept - 1], index->v[i]))
			index->v[kept++] = index->v[i];
	index->n = kept;
	return 0;
}

/* The first of the list that is the same, or NULL. */
static const struct guestsym_event *index_find(const struct index *index,
					       const struct guestsym_event *ev)
{
	const struct guestsym_event *const *at =
		bsearch(&ev, index->v, index->n, sizeof(*index->v), compare_elements);

	return at ? *at : NULL;
}

/* --- what has changed ------------------------------------------------------------------------- */

static void forget(struct events *e, const uint32_t *event, size_t n)
{
	size_t done = 0;

	if (!n)
		return;
	trace_change_begin(e->t);
	trace_writers_stop(e->t);
	for (; done < n && !guest_is_given_up(&e->t->guest); done++)
		e->ops->forget(e->t, event[done]);
	trace_writers_go(e->t);
	trace_change_end(e->t);
	for (size_t i = 0; i < done; i++)
		event_list_remove(e->all, event[i]);
}

/* Many in one pause: each takes a moment, and a guest that has many go would stand in between. */
static void those_gone(struct events *e, const struct index *now)
{
	const struct guestsym_event_list *list = events_list(e);
	uint32_t gone[AT_ONCE];
	size_t n = 0;

	for (uint32_t i = 0; i < list->n && !guest_is_given_up(&e->t->guest); i++) {
		const struct guestsym_event *ev = &list->v[i];

		if (!ev->module || guestsym_event_is_gone(ev) || e->registered[i] ||
		    index_find(now, ev))
			continue;
		gone[n++] = i;
		if (n == AT_ONCE) {
			forget(e, gone, n);
			n = 0;
		}
	}
	forget(e, gone, n);
}

void events_tell_full(struct events *e)
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

static int join_new(struct events *e, const struct guestsym_event_list *now,
		    const struct index *by_now, const struct index *known)
{
	int ret = 0;

	for (size_t i = 0; i < now->n && !ret && !guest_is_given_up(&e->t->guest); i++) {
		const struct guestsym_event *ev = &now->v[i];

		if (!ev->module || index_find(known, ev) || index_find(by_now, ev) != ev)
			continue;
		ret = join(e, ev);
		if (ret == -ENOSPC) {
			events_tell_full(e);
			ret = 0;
		}
	}
	return ret;
}

static int those_new(struct events *e, const struct guestsym_event_list *now,
		     const struct index *by_now)
{
	struct index known;
	int ret = index_make(&known, events_list(e));

	if (ret)
		return ret;
	ret = join_new(e, now, by_now, &known);
	free(known.v);
	return ret;
}

static int compare_lists(struct events *e, const struct guestsym_event_list *now)
{
	struct index by_now;
	int ret = index_make(&by_now, now);

	if (ret)
		return ret;
	those_gone(e, &by_now);
	ret = those_new(e, now, &by_now);
	free(by_now.v);
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
	if (now.left_out)
		events_tell_full(e);
	ret = compare_lists(e, &now);
	guestsym_events_free(&now);
	return ret;
}
