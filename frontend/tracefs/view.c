// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * view.c - the tree of files of a trace, and its open files.
 *
 * An id is made of the number of an instance, of the tree's node, and of which of those that the
 * node stands for: nothing has to be remembered of what somebody looked up.
 */
#include "frontend/tracefs/attrs.h"
#include "frontend/tracefs/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct view {
	struct trace *trace;
	struct tree *tree;
	char *machine;
	struct event_index *events; /* once the guest has told them; older ones stay */
	pthread_mutex_t lock;	    /* of what follows */
	struct view_instance *instances;
	uint64_t next_number;
	struct open_file *open;
	struct attrs attrs;
};

/* --- ids ---------------------------------------------------------------------------------- */

#define NODE_BITS   16
#define NUMBER_BITS 24

#define INSTANCE_SHIFT (NODE_BITS + NUMBER_BITS)
#define INSTANCE_MASK  (UINT64_MAX << INSTANCE_SHIFT)

struct place {
	uint64_t instance;
	unsigned int number, node;
};

static view_id id_of(struct place p)
{
	return p.instance << INSTANCE_SHIFT | (view_id)p.number << NODE_BITS | p.node;
}

static struct place place_of(view_id id)
{
	return (struct place){
		.instance = id >> INSTANCE_SHIFT,
		.number = (unsigned int)(id >> NODE_BITS) & ((1u << NUMBER_BITS) - 1),
		.node = (unsigned int)id & ((1u << NODE_BITS) - 1),
	};
}

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

static struct view_instance *instance_numbered(struct view *v, uint64_t number)
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

/* The number of the instance of this name. Locked. */
static int lookup_instance(struct view *v, const char *name, view_id *id)
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

/* --- names -------------------------------------------------------------------------------- */

/* Directories of the kernel's: 0750, but the root, which only its owner may enter. */
static mode_t mode_of(const struct tree_node *node, struct place p)
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

	if (!node || !instance_numbered(v, p.instance))
		return -ENOENT;
	if (!attrs_get(&v->attrs, id, attr))
		*attr = (struct view_attr){mode_of(node, p), geteuid(), getegid()};
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

/* Those that a node of kind TREE_EVENT stands for; NULL: there are none any more. */
static const struct event_range *range_in(struct view *v, const struct event_index *events,
					  struct place dir)
{
	return tree_node(v->tree, dir.node)->kind == TREE_SYSTEM
		       ? event_index_range(events, dir.number)
		       : &events->ftrace;
}

/* Systems and events have the numbers of their places in the list. */
static bool event_in(struct view *v, struct place dir, const struct tree_node *node, unsigned int n,
		     struct place *at, char *name, size_t len)
{
	const struct event_index *events = view_events(v);
	const struct event_range *range;

	if (!events)
		return false;
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

	if (!file)
		return true;
	return (!file->there || file->there(v->trace)) &&
	       (!(file->flags & TRACEFS_EVENTS) || view_events(v)) &&
	       (!file->event || file->event(&view_events(v)->list->v[at.number]));
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
static bool find_event(struct view *v, struct place dir, unsigned int n, struct lookup *l)
{
	const struct event_index *events = view_events(v);

	const struct event_range *range;
	uint32_t found;

	l->at = (struct place){dir.instance, 0, n};
	if (!events)
		return false;
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

int view_lookup(struct view *v, view_id dir, const char *name, view_id *id)
{
	struct place p = place_of(dir);
	const struct tree_node *node = tree_node(v->tree, p.node);
	struct lookup l = {.name = name};
	int rc;

	if (!node || node->file)
		return node ? -ENOTDIR : -ENOENT;
	if (node->instances) {
		view_lock(v);
		rc = lookup_instance(v, name, id);
		view_unlock(v);
		return rc;
	}
	if (!find_in(v, p, &l))
		return -ENOENT;
	*id = id_of(l.at);
	return 0;
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
		if (rc)
			return rc;
		path += len + (path[len] == '/');
	}
	return 0;
}

bool view_stays(struct view *v, view_id id)
{
	const struct event_index *events;
	struct place p = place_of(id);
	const struct tree_node *node = tree_node(v->tree, p.node);

	while (node && node->kind != TREE_SYSTEM && node->kind != TREE_EVENT)
		node = tree_node(v->tree, node->parent);
	if (p.instance || !node)
		return !p.instance;
	events = view_events(v);
	return events && p.number < events->list->n &&
	       events->list->v[p.number].source != GUESTSYM_EVENT_HOST;
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
		list_one(l, name, id_of(at), mode_of(node, at));
	return l->failed;
}

static void list_instances(struct listing *l)
{
	char name[256];
	view_id id;

	view_lock(l->v);
	for (unsigned int n = 0; instance_name(l->v->trace, n, name, sizeof(name)); n++)
		if (!lookup_instance(l->v, name, &id))
			list_one(l, name, id, S_IFDIR | 0750);
	view_unlock(l->v);
}

ssize_t view_list(struct view *v, view_id dir, struct view_entry **entries)
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
		rc = lookup_instance(v, name, id);
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

/* --- open files --------------------------------------------------------------------------- */

bool opened_to_truncate(const struct open_file *f)
{
	return (f->flags & O_TRUNC) && (f->flags & O_ACCMODE) != O_RDONLY;
}

bool opened_to_read(const struct open_file *f)
{
	return (f->flags & O_ACCMODE) != O_WRONLY;
}

/* A held instance keeps its directory, and what is known of it, from being removed. Locked. */
static int hold_instance(struct open_file *f, uint64_t number)
{
	f->dir = instance_numbered(f->view, number);
	if (!f->dir)
		return -ENOENT;
	f->instance = number ? instance_get(f->trace, f->dir->name) : trace_top(f->trace);
	return f->instance ? 0 : -ENOENT;
}

static void put_instance(struct open_file *f)
{
	if (f->dir->number)
		instance_put(f->instance);
}

static void link_file(struct open_file *f)
{
	f->next = f->view->open;
	if (f->next)
		f->next->prev = f;
	f->view->open = f;
}

static void unlink_file(struct open_file *f)
{
	if (f->next)
		f->next->prev = f->prev;
	if (f->prev)
		f->prev->next = f->next;
	else
		f->view->open = f->next;
}

/* The vCPU whose directory it is in. */
static int vcpu_of(struct view *v, struct place p)
{
	const struct tree_node *node = tree_node(v->tree, p.node);

	while (node->kind != TREE_VCPU && node->parent)
		node = tree_node(v->tree, node->parent);
	return node->kind == TREE_VCPU ? (int)p.number : ALL_VCPUS;
}

int view_open(struct view *v, view_id id, int flags, struct open_file **file)
{
	struct place p = place_of(id);
	const struct tree_node *node = tree_node(v->tree, p.node);
	struct open_file *f;
	int rc;

	if (!node || !node->file)
		return node ? -EISDIR : -ENOENT;
	f = calloc(1, sizeof(*f));
	if (!f)
		return -ENOMEM;
	f->file = node->file;
	f->view = v;
	f->trace = v->trace;
	f->flags = flags;
	f->nonblock = flags & O_NONBLOCK;
	f->number = p.number;
	f->vcpu = vcpu_of(v, p);
	view_lock(v);
	rc = hold_instance(f, p.instance);
	view_unlock(v);
	if (rc) {
		free(f);
		return rc;
	}
	rc = f->file->open ? f->file->open(f) : 0;
	if (rc) {
		put_instance(f);
		free(f);
		return rc;
	}
	pthread_mutex_init(&f->lock, NULL);
	view_lock(v);
	link_file(f);
	view_unlock(v);
	*file = f;
	return 0;
}

void view_close(struct view *v, struct open_file *f)
{
	if (f->file->release)
		f->file->release(f);
	view_lock(v);
	unlink_file(f);
	put_instance(f);
	view_unlock(v);
	text_free(&f->text);
	pthread_mutex_destroy(&f->lock);
	free(f);
}

bool view_is_stream(const struct open_file *f)
{
	return f->file->flags & TRACEFS_STREAM;
}

void view_set_nonblock(struct open_file *f, bool nonblock)
{
	f->nonblock = nonblock;
}

ssize_t text_read(const struct text *text, char *buf, size_t len, off_t off)
{
	if (text->failed)
		return -ENOMEM;
	if (off < 0 || (size_t)off >= text->len)
		return 0;
	if (len > text->len - (size_t)off)
		len = text->len - (size_t)off;
	memcpy(buf, text->buf + off, len);
	return (ssize_t)len;
}

/* Text is made when the file is read from its beginning, and stays the same up to its end. */
static ssize_t read_text(struct open_file *f, char *buf, size_t len, off_t off)
{
	if (off == 0 || !f->shown) {
		text_free(&f->text);
		f->text = (struct text){0};
		f->file->show(f, &f->text);
		f->shown = true;
	}
	return text_read(&f->text, buf, len, off);
}

ssize_t view_read(struct open_file *f, void *buf, size_t len, off_t off)
{
	ssize_t n = -EINVAL;

	pthread_mutex_lock(&f->lock);
	if (f->file->read)
		n = f->file->read(f, buf, len, off);
	else if (f->file->show)
		n = read_text(f, buf, len, off);
	pthread_mutex_unlock(&f->lock);
	return n;
}

static ssize_t write_number(struct open_file *f, const char *text, size_t len)
{
	uint64_t value;
	int rc = parse_number(text, len, &value);

	if (!rc)
		rc = f->file->set(f, value);
	return rc ? rc : (ssize_t)len;
}

ssize_t view_write(struct open_file *f, const char *text, size_t len, off_t off)
{
	ssize_t n = -EINVAL;

	pthread_mutex_lock(&f->lock);
	if (f->file->write)
		n = f->file->write(f, text, len, off);
	else if (f->file->set)
		n = write_number(f, text, len);
	pthread_mutex_unlock(&f->lock);
	return n;
}

bool view_can_wait(const struct open_file *f)
{
	return f->file->wait;
}

bool view_wait(struct open_file *f, int timeout_ms)
{
	return !f->file->wait || f->file->wait(f, timeout_ms);
}

bool view_poll(struct open_file *f, int timeout_ms)
{
	return f->file->poll ? f->file->poll(f, timeout_ms) : view_wait(f, timeout_ms);
}
