// SPDX-License-Identifier: GPL-2.0-or-later
/* view-instances.c - what a view knows of each instance that somebody has looked up. */
#include "frontend/tracefs/view-internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct view_instance *view_instance_add(struct view *v, const char *name)
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

void view_instance_forget(struct view *v, const char *name)
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
		in = view_instance_add(v, name);
	if (!in)
		return -ENOMEM;
	*id = id_of((struct place){.instance = in->number, .node = TREE_ROOT});
	return 0;
}
