/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * view-internal.h - what the files of a view share: the view itself (view.c), its instances
 * (view-instances.c), the names in its directories (view-names.c) and its open files
 * (view-files.c).
 *
 * An id is made of the number of an instance, of the tree's node, and of which of those that the
 * node stands for: nothing has to be remembered of what somebody looked up.
 */
#ifndef HVTRACE_FRONTEND_TRACEFS_VIEW_INTERNAL_H
#define HVTRACE_FRONTEND_TRACEFS_VIEW_INTERNAL_H

#include <errno.h>

#include "frontend/tracefs/attrs.h"
#include "frontend/tracefs/internal.h"

struct view {
	/* Held by whoever asks for something, for as long as that takes; alone by view_follow() */
	pthread_rwlock_t use;
	struct trace *trace;
	bool may_follow; /* there may be another trace later */
	struct tree *tree;
	char *machine;
	pthread_mutex_t lock;	    /* of what follows */
	struct event_index *events; /* once the guest has told them */
	struct view_instance *instances;
	uint64_t next_number;
	struct open_file *open;
	struct attrs attrs;
};

#define NODE_BITS   16
#define NUMBER_BITS 24

#define INSTANCE_SHIFT (NODE_BITS + NUMBER_BITS)
#define INSTANCE_MASK  (UINT64_MAX << INSTANCE_SHIFT)

struct place {
	uint64_t instance;
	unsigned int number, node;
};

static inline view_id id_of(struct place p)
{
	return p.instance << INSTANCE_SHIFT | (view_id)p.number << NODE_BITS | p.node;
}

static inline struct place place_of(view_id id)
{
	return (struct place){
		.instance = id >> INSTANCE_SHIFT,
		.number = (unsigned int)(id >> NODE_BITS) & ((1u << NUMBER_BITS) - 1),
		.node = (unsigned int)id & ((1u << NODE_BITS) - 1),
	};
}

/* With whatever trace, or none; then also view_leave(). */
static inline void view_use(struct view *v)
{
	pthread_rwlock_rdlock(&v->use);
}

static inline void view_leave(struct view *v)
{
	pthread_rwlock_unlock(&v->use);
}

/* 0, then also view_leave(); or -ENODEV: there is no trace, between two boots. */
static inline int view_enter(struct view *v)
{
	view_use(v);
	if (v->trace)
		return 0;
	view_leave(v);
	return -ENODEV;
}

/* What it was opened for is no more: view_follow(). */
void view_file_ends(struct open_file *f);
/* NULL: no memory. Locked, or nobody else knows the view yet. */
struct view_instance *view_instance_add(struct view *v, const char *name);
/* It has been removed. Locked. */
void view_instance_forget(struct view *v, const char *name);
/* What is known of the instance of that number; NULL: there is none. Locked. */
struct view_instance *view_instance_numbered(struct view *v, uint64_t number);
/* The directory of the instance of that name: 0, -ENOENT or -ENOMEM. Locked. */
int view_instance_lookup(struct view *v, const char *name, view_id *id);

/* The mode that a file or directory has at first. */
mode_t view_mode_of(const struct tree_node *node, struct place p);

#endif
