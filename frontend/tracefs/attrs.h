/* SPDX-License-Identifier: GPL-2.0-or-later */
/* attrs.h - what chmod(2) and chown(2) have changed. The owner's lock is held. */
#ifndef HVTRACE_FRONTEND_TRACEFS_ATTRS_H
#define HVTRACE_FRONTEND_TRACEFS_ATTRS_H

#include <stdbool.h>

#include "frontend/tracefs/view.h"

#define ATTR_BUCKETS 256

struct attr_node;

/* Starts out as all zero. */
struct attrs {
	struct attr_node *bucket[ATTR_BUCKETS];
};

/* False, and attr as it was: nothing was changed. */
bool attrs_get(const struct attrs *a, view_id id, struct view_attr *attr);
/* 0 or -ENOMEM. */
int attrs_set(struct attrs *a, view_id id, const struct view_attr *attr);
/* Those whose ids have these bits under the mask are gone; mask 0: all. */
void attrs_forget(struct attrs *a, view_id mask, view_id bits);

#endif
