// SPDX-License-Identifier: GPL-2.0-or-later
/* view-names.c - the names in the directories of a view: what is there, and what it is called. */
#include "frontend/tracefs/view-internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Those that a node of kind TREE_EVENT stands for; NULL: there are none any more. */
static const struct event_range *range_in(struct view *v, const struct event_index *events,
					  struct place dir)
{
	return tree_node(v->tree, dir.node)->kind == TREE_SYSTEM
		       ? event_index_range(events, dir.number)
		       : &events->ftrace;
}

/* Systems and events have the numbers of their places in the list. */
static bool number_in(struct view *v, const struct event_index *events, struct place dir,
		      const struct tree_node *node, unsigned int n, struct place *at, char *name,
		      size_t len)
{
	const struct event_range *range;

	if (node->kind == TREE_SYSTEM) {
		if (n >= events->nr_systems)
			return false;
		at->number = events->system[n].id;
		snprintf(name, len, "%s", events->system[n].system);
		return true;
	}
	range = range_in(v, events, dir);
	if (!range || n >= range->nr)
		return false;
	at->number = events->order[range->first + n];
	snprintf(name, len, "%s", event_index_at(events, range->first + n)->name);
	return true;
}

static bool event_in(struct view *v, struct place dir, const struct tree_node *node, unsigned int n,
		     struct place *at, char *name, size_t len)
{
	struct event_index *events = view_events(v);
	bool found = events && number_in(v, events, dir, node, n, at, name, len);

	view_events_put(v, events);
	return found;
}

/*
 * The name of number n of what a node in a directory stands for, as tree_name(), and its place: a
 * number that was given to one of several above it stays.
 */
static bool name_in(struct view *v, struct place dir, const struct tree_node *node, unsigned int n,
		    struct place *at, char *name, size_t len)
{
	if (node->kind == TREE_SYSTEM || node->kind == TREE_EVENT)
		return event_in(v, dir, node, n, at, name, len);
	at->number = node->kind == TREE_PLAIN ? dir.number : n;
	return tree_name(node, !dir.instance, trace_vcpus(v->trace), n, name, len);
}

static bool is_there(struct view *v, const struct tree_node *node, struct place at)
{
	const struct tracefs_file *file = node->file;
	const struct guestsym_event_list *list;
	const struct guestsym_event *event;

	if (!file)
		return true;
	if ((file->there && !file->there(v->trace)) ||
	    (file->flags & TRACEFS_EVENTS && trace_events(v->trace, &list)))
		return false;
	event = file->event ? view_event(v, at.number) : NULL;
	return !file->event || (event && file->event(event));
}

typedef bool each_fn(void *arg, const char *name, struct place at);

static bool each_of_node(struct view *v, struct place dir, unsigned int n, each_fn *each, void *arg)
{
	const struct tree_node *node = tree_node(v->tree, n);
	struct place at = {.instance = dir.instance, .node = n};
	char name[256];

	for (unsigned int i = 0; name_in(v, dir, node, i, &at, name, sizeof(name)); i++) {
		if (name[0] && each(arg, name, at))
			return true;
	}
	return false;
}

/* The next node in a directory after n, 0: there is none. */
static unsigned int next_in(struct view *v, struct place dir, unsigned int n)
{
	const struct tree_node *node;

	while ((node = tree_node(v->tree, ++n)))
		if (node->parent == dir.node && !(node->top && dir.instance))
			return n;
	return 0;
}

struct lookup {
	const char *name;
	struct place at;
};

static bool is_named(void *arg, const char *name, struct place at)
{
	struct lookup *l = arg;

	l->at = at;
	return !strcmp(name, l->name);
}

/* There are many systems and events, which need not be walked through. */
static bool find_number(struct view *v, const struct event_index *events, struct place dir,
			unsigned int n, struct lookup *l)
{
	const struct event_range *range;
	uint32_t found;

	if (tree_node(v->tree, n)->kind == TREE_SYSTEM) {
		if (!event_index_system(events, l->name, &found))
			return false;
		l->at.number = events->system[found].id;
		return true;
	}
	range = range_in(v, events, dir);
	if (!range || !event_index_event(events, range, l->name, &found))
		return false;
	l->at.number = events->order[found];
	return true;
}

static bool find_event(struct view *v, struct place dir, unsigned int n, struct lookup *l)
{
	struct event_index *events = view_events(v);
	bool found;

	l->at = (struct place){dir.instance, 0, n};
	found = events && find_number(v, events, dir, n, l);
	view_events_put(v, events);
	return found;
}

static bool find_in(struct view *v, struct place dir, struct lookup *l)
{
	for (unsigned int n = next_in(v, dir, dir.node); n; n = next_in(v, dir, n)) {
		const struct tree_node *node = tree_node(v->tree, n);
		bool dynamic = node->kind == TREE_SYSTEM || node->kind == TREE_EVENT;

		if (dynamic ? find_event(v, dir, n, l) : each_of_node(v, dir, n, is_named, l))
			return is_there(v, node, l->at);
	}
	return false;
}

static int lookup(struct view *v, view_id dir, const char *name, view_id *id)
{
	struct place p = place_of(dir);
	const struct tree_node *node = tree_node(v->tree, p.node);
	struct lookup l = {.name = name};
	int rc;

	if (!node || node->file)
		return node ? -ENOTDIR : -ENOENT;
	if (node->instances) {
		view_lock(v);
		rc = view_instance_lookup(v, name, id);
		view_unlock(v);
		return rc;
	}
	if (!find_in(v, p, &l))
		return -ENOENT;
	*id = id_of(l.at);
	return 0;
}

int view_lookup(struct view *v, view_id dir, const char *name, view_id *id)
{
	int rc = view_enter(v);

	if (rc)
		return rc;
	rc = lookup(v, dir, name, id);
	view_leave(v);
	return rc;
}

static int must_be_directory(struct view *v, view_id id)
{
	struct view_attr attr;
	int rc = view_attr(v, id, &attr);

	return rc || S_ISDIR(attr.mode) ? rc : -ENOTDIR;
}

int view_find(struct view *v, const char *path, view_id *id)
{
	*id = VIEW_ROOT;
	while (*path) {
		size_t len = strcspn(path, "/");
		char name[256];
		int rc;

		if (len >= sizeof(name))
			return -ENAMETOOLONG;
		memcpy(name, path, len);
		name[len] = '\0';
		rc = len ? view_lookup(v, *id, name, id) : 0;
		if (!rc && path[len] == '/')
			rc = must_be_directory(v, *id);
		if (rc)
			return rc;
		path += len + (path[len] == '/');
	}
	return 0;
}

static bool stays(struct view *v, view_id id)
{
	const struct guestsym_event *event;
	struct place p = place_of(id);
	const struct tree_node *node = tree_node(v->tree, p.node);

	if (v->may_follow)
		return false;

	while (node && node->kind != TREE_SYSTEM && node->kind != TREE_EVENT)
		node = tree_node(v->tree, node->parent);
	if (p.instance || !node)
		return !p.instance;
	event = view_event(v, p.number);
	return event && event->source != GUESTSYM_EVENT_HOST;
}

bool view_stays(struct view *v, view_id id)
{
	bool yes;

	if (view_enter(v))
		return false;
	yes = stays(v, id);
	view_leave(v);
	return yes;
}

struct listing {
	struct view *v;
	struct view_entry *entries;
	size_t nr, room;
	bool failed;
};

static void list_one(struct listing *l, const char *name, view_id id, mode_t mode)
{
	struct view_entry *e;

	if (l->nr == l->room) {
		size_t room = l->room ? 2 * l->room : 64;
		struct view_entry *more = realloc(l->entries, room * sizeof(*more));

		if (!more) {
			l->failed = true;
			return;
		}
		l->entries = more;
		l->room = room;
	}
	e = &l->entries[l->nr++];
	e->id = id;
	e->mode = mode;
	strncpy(e->name, name, sizeof(e->name) - 1);
	e->name[sizeof(e->name) - 1] = '\0';
}

static bool list_named(void *arg, const char *name, struct place at)
{
	struct listing *l = arg;
	const struct tree_node *node = tree_node(l->v->tree, at.node);

	if (is_there(l->v, node, at))
		list_one(l, name, id_of(at), view_mode_of(node, at));
	return l->failed;
}

static void list_instances(struct listing *l)
{
	char name[256];
	view_id id;

	view_lock(l->v);
	for (unsigned int n = 0; instance_name(l->v->trace, n, name, sizeof(name)); n++)
		if (!view_instance_lookup(l->v, name, &id))
			list_one(l, name, id, S_IFDIR | 0750);
	view_unlock(l->v);
}

static ssize_t list(struct view *v, view_id dir, struct view_entry **entries)
{
	struct place p = place_of(dir);
	const struct tree_node *node = tree_node(v->tree, p.node);
	struct listing l = {.v = v};

	if (!node || node->file)
		return node ? -ENOTDIR : -ENOENT;
	if (node->instances)
		list_instances(&l);
	else
		for (unsigned int n = next_in(v, p, p.node); n; n = next_in(v, p, n))
			each_of_node(v, p, n, list_named, &l);
	if (l.failed) {
		free(l.entries);
		return -ENOMEM;
	}
	*entries = l.entries;
	return (ssize_t)l.nr;
}

ssize_t view_list(struct view *v, view_id dir, struct view_entry **entries)
{
	ssize_t n = view_enter(v);

	if (n)
		return n;
	n = list(v, dir, entries);
	view_leave(v);
	return n;
}
