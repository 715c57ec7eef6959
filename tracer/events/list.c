// SPDX-License-Identifier: GPL-2.0-or-later
/* list.c - see list.h */
#include "tracer/events/list.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Of a copied event's strings and fields, all of them together. */
#define COPIES_MAX (UINT64_C(16) << 20)

/* The list as somebody may be looking at it: of one length. */
struct view {
	struct view *older;
	struct guestsym_event_list list;
};

struct event_list {
	struct guestsym_event *v;
	size_t nr_read, room;
	struct view *_Atomic now;
	_Atomic uint64_t changes;
	struct probe_event_made own[EVENTS_OWN];
	void *copy[EVENTS_OWN]; /* what the events of modules point to */
	size_t copied;		/* bytes */
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
	for (size_t i = 0; i < EVENTS_OWN; i++) {
		probe_event_unmake(&l->own[i]);
		free(l->copy[i]);
	}
	free(l->v);
	free(l);
}

const struct guestsym_event_list *event_list_now(const struct event_list *l)
{
	return &l->now->list;
}

uint64_t event_list_changes(const struct event_list *l)
{
	return atomic_load(&l->changes);
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
	       a->size == b->size && a->is_signed == b->is_signed && a->kind == b->kind;
}

static bool same_string(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

/* Both are printed, chosen and recorded alike. */
static bool same_nature(const struct guestsym_event *a, const struct guestsym_event *b)
{
	const uint32_t gone = GUESTSYM_EVENT_FL_GONE;

	return (a->flags | gone) == (b->flags | gone) && a->source == b->source &&
	       a->syscall_exit == b->syscall_exit && a->syscall_nr == b->syscall_nr &&
	       same_string(a->module, b->module) && same_string(a->place, b->place);
}

static bool same_event(const struct guestsym_event *a, const struct guestsym_event *b)
{
	if (strcmp(a->system, b->system) != 0 || strcmp(a->name, b->name) != 0 ||
	    strcmp(a->print_fmt, b->print_fmt) != 0 || a->nr_fields != b->nr_fields ||
	    !same_nature(a, b))
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

/* One more, whose place has been filled. */
static int grow(struct event_list *l)
{
	struct guestsym_event_list list = l->now->list;
	struct view *view;

	list.n++;
	view = view_new(&list, l->now);
	if (!view)
		return -ENOMEM;
	atomic_store(&l->now, view);
	return 0;
}

int event_list_add(struct event_list *l, struct probe_event_made *made, uint32_t *event)
{
	size_t at = place_for(l, &made->event), own = at - l->nr_read;
	int ret = 0;

	if (at == l->room)
		return -ENOSPC;
	if (at < l->now->list.n) {
		probe_event_unmake(made);
		mark_gone(&l->v[at], false);
	} else {
		l->v[at] = made->event;
		l->v[at].id = own_id(own);
		ret = grow(l);
		if (ret)
			return ret;
		l->own[own] = *made;
		*made = (struct probe_event_made){0};
	}
	*event = (uint32_t)at;
	atomic_fetch_add(&l->changes, 1);
	return 0;
}

/* --- of modules ------------------------------------------------------------------------------ */

static size_t string_bytes(const char *s)
{
	return s ? strlen(s) + 1 : 0;
}

static size_t event_bytes(const struct guestsym_event *ev)
{
	size_t bytes = ev->nr_fields * sizeof(*ev->fields) + string_bytes(ev->system) +
		       string_bytes(ev->name) + string_bytes(ev->module) +
		       string_bytes(ev->print_fmt) + string_bytes(ev->place);

	for (size_t i = 0; i < ev->nr_fields; i++)
		bytes += string_bytes(ev->fields[i].type) + string_bytes(ev->fields[i].name);
	return bytes;
}

static void string_move(const char **s, char **to)
{
	size_t len = string_bytes(*s);

	if (!len)
		return;
	*s = memcpy(*to, *s, len);
	*to += len;
}

/* Have what it points to in memory, which has room for that: event_bytes(). */
static void event_move(struct guestsym_event *ev, void *memory)
{
	struct guestsym_event_field *fields = memory;
	char *to = (char *)(fields + ev->nr_fields);

	for (size_t i = 0; i < ev->nr_fields; i++) {
		fields[i] = ev->fields[i];
		string_move(&fields[i].type, &to);
		string_move(&fields[i].name, &to);
	}
	ev->fields = fields;
	string_move(&ev->system, &to);
	string_move(&ev->name, &to);
	string_move(&ev->module, &to);
	string_move(&ev->print_fmt, &to);
	string_move(&ev->place, &to);
}

static int append_copy(struct event_list *l, const struct guestsym_event *ev)
{
	size_t at = l->now->list.n, bytes = event_bytes(ev);
	void *copy;
	int ret;

	if (at == l->room || bytes > COPIES_MAX - l->copied)
		return -ENOSPC;
	copy = malloc(bytes ? bytes : 1);
	if (!copy)
		return -ENOMEM;
	l->v[at] = *ev;
	event_move(&l->v[at], copy);
	ret = grow(l);
	if (ret) {
		free(copy);
		return ret;
	}
	l->copy[at - l->nr_read] = copy;
	l->copied += bytes;
	return 0;
}

/* The same again, where the kernel has it now. */
static void come_back(struct guestsym_event *to, const struct guestsym_event *ev)
{
	to->id = ev->id;
	to->module_at = ev->module_at;
	to->call = ev->call;
	to->tracepoint = ev->tracepoint;
	to->probe = ev->probe;
	mark_gone(to, false);
}

int event_list_join(struct event_list *l, const struct guestsym_event *ev, uint32_t *event)
{
	size_t at = place_for(l, ev);
	int ret = 0;

	if (ev->id >= own_id(0))
		return -ENOSPC;
	if (at < l->now->list.n)
		come_back(&l->v[at], ev);
	else
		ret = append_copy(l, ev);
	if (ret)
		return ret;
	*event = (uint32_t)at;
	atomic_fetch_add(&l->changes, 1);
	return 0;
}

void event_list_remove(struct event_list *l, uint32_t event)
{
	mark_gone(&l->v[event], true);
	atomic_fetch_add(&l->changes, 1);
}
