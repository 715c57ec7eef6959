/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * call-profile.h - what the function tracers have recorded, as one tree: calls of function_graph
 * with their times, and of function how often each one was called by whom.
 */
#ifndef HVTRACE_FRONTEND_EXPORT_CALL_PROFILE_H
#define HVTRACE_FRONTEND_EXPORT_CALL_PROFILE_H

#include "frontend/export/local.h"
#include "frontend/report/calltree.h"

struct call_profile;

/* NULL: no memory. */
struct call_profile *call_profile_new(struct export *x);
void call_profile_free(void *profile); /* NULL is allowed */
void call_profile_event(void *profile, const struct decode_event *ev);
/* There is no event any more: the tree, which is the profile's. */
const struct calltree *call_profile_tree(struct call_profile *p);
struct export *call_profile_export(const struct call_profile *p);

#endif
