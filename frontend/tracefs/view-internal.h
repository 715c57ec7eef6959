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

#include "frontend/tracefs/attrs.h"
#include "frontend/tracefs/internal.h"

struct view {
	struct trace *trace;
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
