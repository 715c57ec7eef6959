// SPDX-License-Identifier: GPL-2.0-or-later
/* attrs.c - what chmod(2) and chown(2) have changed, by the ids of files. */
#include "frontend/tracefs/attrs.h"

#include <errno.h>
#include <stdlib.h>

struct attr_node {
	struct attr_node *next;
	view_id id;
	struct view_attr attr;
};

/* Ids are a node's number, a vCPU's above it, and an instance's above that. */
static unsigned int bucket_of(view_id id)
{
	return (unsigned int)(id ^ id >> 16 ^ id >> 40) % ATTR_BUCKETS;
}

static struct attr_node *find(const struct attrs *a, view_id id)
{
	struct attr_node *n = a->bucket[bucket_of(id)];

	while (n && n->id != id)
		n = n->next;
	return n;
}

bool attrs_get(const struct attrs *a, view_id id, struct view_attr *attr)
{
	const struct attr_node *n = find(a, id);

	if (n)
		*attr = n->attr;
	return n;
}

int attrs_set(struct attrs *a, view_id id, const struct view_attr *attr)
{
	struct attr_node *n = find(a, id);

	if (!n) {
		n = calloc(1, sizeof(*n));
		if (!n)
			return -ENOMEM;
		n->id = id;
		n->next = a->bucket[bucket_of(id)];
		a->bucket[bucket_of(id)] = n;
	}
	n->attr = *attr;
	return 0;
}

void attrs_forget(struct attrs *a, view_id mask, view_id bits)
{
	for (unsigned int i = 0; i < ATTR_BUCKETS; i++) {
		struct attr_node **at = &a->bucket[i];

		while (*at) {
			struct attr_node *n = *at;

			if ((n->id & mask) == bits) {
				*at = n->next;
				free(n);
			} else {
				at = &n->next;
			}
		}
	}
}
