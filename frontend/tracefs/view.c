// SPDX-License-Identifier: GPL-2.0-or-later
/* view.c - the view of a trace: its instances, its attributes, the directories that come and go. */
#include "frontend/tracefs/view-internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- instances ---------------------------------------------------------------------------- */

void view_lock(struct view *v)
{
	pthread_mutex_lock(&v->lock);
}

void view_unlock(struct view *v)
{
	pthread_mutex_unlock(&v->lock);
}

static struct view_instance *add_instance(struct view *v, const char *name)
{
	size_t len = strlen(name) + 1;
	struct view_instance *in = calloc(1, sizeof(*in) + len);

	if (!in)
		return NULL;
	memcpy(in->name, name, len);
	in->number = v->next_number++;
	in->next = v->instances;
	v->instances = in;
	return in;
}

static struct view_instance *instance_named(struct view *v, const char *name)
{
	struct view_instance *in = v->instances;

	while (in && (!in->number || strcmp(in->name, name)))
		in = in->next;
	return in;
}

struct view_instance *view_instance_numbered(struct view *v, uint64_t number)
{
	struct view_instance *in = v->instances;

	while (in && in->number != number)
		in = in->next;
	return in;
}

static void forget_instance(struct view *v, const char *name)
{
	struct view_instance *gone = instance_named(v, name), **at = &v->instances;

	if (!gone)
		return;
	while (*at != gone)
		at = &(*at)->next;
	*at = gone->next;
	attrs_forget(&v->attrs, INSTANCE_MASK, gone->number << INSTANCE_SHIFT);
	free(gone);
}

int view_instance_lookup(struct view *v, const char *name, view_id *id)
{
	struct instance *i = instance_get(v->trace, name);
	struct view_instance *in;

	if (!i)
		return -ENOENT;
	instance_put(i);
	in = instance_named(v, name);
	if (!in)
		in = add_instance(v, name);
	if (!in)
		return -ENOMEM;
	*id = id_of((struct place){.instance = in->number, .node = TREE_ROOT});
	return 0;
}

/* --- the view ----------------------------------------------------------------------------- */

struct view *view_new(struct trace *t, const char *machine)
{
	struct view *v = calloc(1, sizeof(*v));

	if (!v)
		return NULL;
	v->trace = t;
	v->tree = tree_new();
	v->machine = machine ? strdup(machine) : NULL;
	if (!v->tree || (machine && !v->machine) || !add_instance(v, "")) {
		tree_free(v->tree);
		free(v->machine);
		free(v);
		return NULL;
	}
	pthread_mutex_init(&v->lock, NULL);
	return v;
}

void view_free(struct view *v)
{
	if (!v)
		return;
	while (v->open)
		view_close(v, v->open);
	for (struct view_instance *in = v->instances, *next; in; in = next) {
		next = in->next;
		free(in);
	}
	attrs_forget(&v->attrs, 0, 0);
	pthread_mutex_destroy(&v->lock);
	for (struct event_index *index = v->events, *older; index; index = older) {
		older = index->older;
		event_index_free(index);
	}
	tree_free(v->tree);
	free(v->machine);
	free(v);
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

/* --- attributes --------------------------------------------------------------------------- */

/* Directories of the kernel's: 0750, but the root, which only its owner may enter. */
mode_t view_mode_of(const struct tree_node *node, struct place p)
{
	if (node->file)
		return S_IFREG | node->file->mode;
	return S_IFDIR | (p.node == TREE_ROOT && !p.instance ? 0700 : 0750);
}

/* Locked. */
static int get_attr(struct view *v, view_id id, struct view_attr *attr)
{
	struct place p = place_of(id);
	const struct tree_node *node = tree_node(v->tree, p.node);

	if (!node || !view_instance_numbered(v, p.instance))
		return -ENOENT;
	if (!attrs_get(&v->attrs, id, attr))
		*attr = (struct view_attr){view_mode_of(node, p), geteuid(), getegid()};
	return 0;
}

int view_attr(struct view *v, view_id id, struct view_attr *attr)
{
	int rc;

	view_lock(v);
	rc = get_attr(v, id, attr);
	view_unlock(v);
	return rc;
}

int view_set_attr(struct view *v, view_id id, const struct view_attr *attr, unsigned int fields)
{
	struct view_attr now;
	int rc;

	view_lock(v);
	rc = get_attr(v, id, &now);
	if (!rc) {
		if (fields & VIEW_ATTR_MODE)
			now.mode = (now.mode & S_IFMT) | (attr->mode & 07777);
		if (fields & VIEW_ATTR_UID)
			now.uid = attr->uid;
		if (fields & VIEW_ATTR_GID)
			now.gid = attr->gid;
		rc = attrs_set(&v->attrs, id, &now);
	}
	view_unlock(v);
	return rc;
}

int view_allow_other(struct view *v)
{
	const struct view_attr attr = {.mode = 0750};

	return view_set_attr(v, VIEW_ROOT, &attr, VIEW_ATTR_MODE);
}

/* --- directories of instances ------------------------------------------------------------- */

/* tracefs says EPERM wherever directories are not made and removed. */
static bool holds_instances(struct view *v, view_id dir)
{
	const struct tree_node *node = tree_node(v->tree, place_of(dir).node);

	return node && node->instances;
}

int view_mkdir(struct view *v, view_id dir, const char *name, view_id *id)
{
	int rc;

	if (!holds_instances(v, dir))
		return -EPERM;
	view_lock(v);
	rc = instance_new(v->trace, name);
	if (!rc)
		rc = view_instance_lookup(v, name, id);
	view_unlock(v);
	return rc;
}

int view_rmdir(struct view *v, view_id dir, const char *name)
{
	int rc;

	if (!holds_instances(v, dir))
		return -EPERM;
	view_lock(v);
	rc = instance_remove(v->trace, name);
	if (!rc)
		forget_instance(v, name);
	view_unlock(v);
	return rc;
}
