/* SPDX-License-Identifier: GPL-2.0-or-later */
/* select.h - what of a call tree a report is about. Each gives a tree of its own; NULL: no memory.
 */
#ifndef HVTRACE_FRONTEND_REPORT_SELECT_H
#define HVTRACE_FRONTEND_REPORT_SELECT_H

#include "frontend/report/calltree.h"

/* Some tasks, or all. */
struct select_tasks {
	const char *const *pid; /* of the tasks that are wanted; none: all */
	size_t nr;
	bool no_idle; /* without the idle tasks */
	bool apart;   /* one node for each task stays; else there is one without a name for all */
	bool by_name; /* or one for all tasks of a name */
};

struct calltree *select_tasks(const struct calltree *t, const struct select_tasks *sel);
/* What is called from functions that a glob matches on; of nested calls the outermost. */
struct calltree *select_root(const struct calltree *t, const char *glob);
/* Below each function that a glob matches who calls it, who calls those, and so on. */
struct calltree *select_callers(const struct calltree *t, const char *glob);

/*
 * A flat table: each function is a child of the root's only child. Of calls of a function inside
 * itself total has the outermost.
 */
struct calltree *select_functions(const struct calltree *t);

#endif
