// SPDX-License-Identifier: GPL-2.0-or-later
/* view.c - the view of a trace: its life, its attributes, the directories that come and go. */
#include "frontend/tracefs/view-internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- the view ----------------------------------------------------------------------------- */

/* Who wants to be alone comes before those who ask all the time. */
static void use_init(struct view *v)
{
	pthread_rwlockattr_t attr;

	pthread_rwlockattr_init(&attr);
	pthread_rwlockattr_setkind_np(&attr, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
	pthread_rwlock_init(&v->use, &attr);
	pthread_rwlockattr_destroy(&attr);
}

struct view *view_new(struct trace *t, const char *machine)
{
	struct view *v = calloc(1, sizeof(*v));

	if (!v)
		return NULL;
	v->trace = t;
	v->tree = tree_new();
	v->machine = machine ? strdup(machine) : NULL;
	if (!v->tree || (machine && !v->machine) || !view_instance_add(v, "")) {
		tree_free(v->tree);
		free(v->machine);
		free(v);
		return NULL;
	}
	pthread_mutex_init(&v->lock, NULL);
	use_init(v);
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
	pthread_rwlock_destroy(&v->use);
	pthread_mutex_destroy(&v->lock);
	event_index_free(v->events);
	tree_free(v->tree);
	free(v->machine);
	free(v);
}

/* --- the next trace ------------------------------------------------------------------------ */

void view_may_follow(struct view *v)
{
	v->may_follow = true;
}

/* The top level is the same directory in each. */
static void forget_instances(struct view *v)
{
	struct view_instance **at = &v->instances;

	while (*at)
		if ((*at)->number)
			view_instance_forget(v, (*at)->name);
		else
			at = &(*at)->next;
}

void view_follow(struct view *v, struct trace *t)
{
	pthread_rwlock_wrlock(&v->use);
	for (struct open_file *f = v->open; f; f = f->next)
		view_file_ends(f);
	view_lock(v);
	forget_instances(v);
	view_unlock(v);
	event_index_free(v->events);
	v->events = NULL;
	v->trace = t;
	pthread_rwlock_unlock(&v->use);
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
	int rc = view_enter(v);

	if (rc)
		return rc;
	view_lock(v);
	rc = get_attr(v, id, attr);
	view_unlock(v);
	view_leave(v);
	return rc;
}

int view_set_attr(struct view *v, view_id id, const struct view_attr *attr, unsigned int fields)
{
	struct view_attr now;
	int rc = view_enter(v);

	if (rc)
		return rc;
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
	view_leave(v);
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
	rc = view_enter(v);
	if (rc)
		return rc;
	view_lock(v);
	rc = instance_new(v->trace, name);
	if (!rc)
		rc = view_instance_lookup(v, name, id);
	view_unlock(v);
	view_leave(v);
	return rc;
}

int view_rmdir(struct view *v, view_id dir, const char *name)
{
	int rc;

	if (!holds_instances(v, dir))
		return -EPERM;
	rc = view_enter(v);
	if (rc)
		return rc;
	view_lock(v);
	rc = instance_remove(v->trace, name);
	if (!rc)
		view_instance_forget(v, name);
	view_unlock(v);
	view_leave(v);
	return rc;
}
