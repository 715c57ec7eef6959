// SPDX-License-Identifier: GPL-2.0-or-later
/* select.c - see select.h */
#include "frontend/report/select.h"

#include <stdlib.h>
#include <string.h>

#include "tracer/tracer.h"

/* A tree about the same trace. */
static struct calltree *tree_like(const struct calltree *t)
{
	struct calltree *to = calltree_new();

	if (!to)
		return NULL;
	memcpy(to->guest, t->guest, sizeof(to->guest));
	memcpy(to->release, t->release, sizeof(to->release));
	to->from = t->from;
	to->until = t->until;
	to->lost = t->lost;
	to->cpus = t->cpus;
	to->has_cpu = t->has_cpu;
	to->has_time = t->has_time;
	to->full = t->full;
	return to;
}

static uint32_t child_named(struct calltree *t, uint32_t parent, const char *name)
{
	return calltree_child(t, parent, calltree_name(t, name, strlen(name)));
}

static void add_to(struct calltree *t, uint32_t node, const struct call_stats *st)
{
	if (node != CALLTREE_NONE)
		calltree_add(&t->node[node].st, st);
}

/* --- tasks -------------------------------------------------------------------------------- */

/* "cat-111": its number. Tasks that are not known have none. */
static const char *pid_of(const char *name)
{
	const char *dash = strrchr(name, '-');

	return dash ? dash + 1 : "";
}

static bool task_is_wanted(const char *name, const struct select_tasks *sel)
{
	const char *pid = pid_of(name);
	bool wanted = !sel->nr;

	for (size_t i = 0; i < sel->nr; i++)
		wanted |= !strcmp(sel->pid[i], pid);
	return wanted && !(sel->no_idle && !strcmp(pid, "0"));
}

static uint32_t task_node(struct calltree *to, const char *name, const struct select_tasks *sel)
{
	size_t len = sel->apart ? strlen(name) : 0;

	if (sel->by_name && *pid_of(name))
		len -= strlen(pid_of(name)) + 1;
	return calltree_child(to, CALLTREE_ROOT, calltree_name(to, name, len));
}

struct calltree *select_tasks(const struct calltree *t, const struct select_tasks *sel)
{
	struct calltree *to = tree_like(t);

	for (uint32_t c = t->node[CALLTREE_ROOT].child; to && c != CALLTREE_NONE;
	     c = t->node[c].next) {
		const char *name = calltree_name_of(t, c);
		uint32_t task;

		if (!task_is_wanted(name, sel))
			continue;
		task = task_node(to, name, sel);
		if (task != CALLTREE_NONE)
			calltree_merge_children(to, task, t, c);
	}
	return to;
}

/* --- functions by their names --------------------------------------------------------------- */

/* By name: whether the glob matches it. To be freed; NULL: no memory. */
static bool *names_matching(const struct calltree *t, const char *glob)
{
	bool *wanted = calloc(t->nr_names + 1, sizeof(*wanted));

	for (uint32_t i = 0; wanted && i < t->nr_names; i++)
		wanted[i] = glob_pattern_match(glob, t->name[i]);
	return wanted;
}

/* --- from a function on ------------------------------------------------------------------- */

/* NOLINTNEXTLINE(misc-no-recursion): no deeper than CALLTREE_DEPTH */
static void add_roots(struct calltree *to, const char *task, const struct calltree *t,
		      uint32_t node, const bool *wanted)
{
	uint32_t root;

	for (uint32_t c = t->node[node].child; c != CALLTREE_NONE; c = t->node[c].next) {
		if (!wanted[t->node[c].name]) {
			add_roots(to, task, t, c, wanted);
			continue;
		}
		root = child_named(to, child_named(to, CALLTREE_ROOT, task),
				   calltree_name_of(t, c));
		add_to(to, root, &t->node[c].st);
		if (root != CALLTREE_NONE)
			calltree_merge_children(to, root, t, c);
	}
}

struct calltree *select_root(const struct calltree *t, const char *glob)
{
	bool *wanted = names_matching(t, glob);
	struct calltree *to = wanted ? tree_like(t) : NULL;

	for (uint32_t c = t->node[CALLTREE_ROOT].child; to && c != CALLTREE_NONE;
	     c = t->node[c].next)
		add_roots(to, calltree_name_of(t, c), t, c, wanted);
	free(wanted);
	return to;
}

/* --- callers ------------------------------------------------------------------------------ */

struct inverting {
	const struct calltree *from;
	struct calltree *to;
	const bool *wanted; /* by name */
	uint32_t *open;	    /* by name: how many calls of it are around */
	const char *task;
};

/* One place where it is called: its numbers count for each of those above it. */
static void add_callers(struct inverting *v, uint32_t node, bool nested)
{
	const struct calltree *t = v->from;
	struct call_stats st = t->node[node].st;
	uint32_t at = child_named(v->to, CALLTREE_ROOT, v->task);

	st.cpu = nested ? 0 : calltree_cpu_total(t, node);
	if (nested)
		st.total = 0;
	/* Up to the task, which is below the root. */
	for (uint32_t n = node; t->node[n].parent != CALLTREE_ROOT; n = t->node[n].parent) {
		at = child_named(v->to, at, calltree_name_of(t, n));
		add_to(v->to, at, &st);
	}
}

/* NOLINTNEXTLINE(misc-no-recursion): no deeper than CALLTREE_DEPTH */
static void invert(struct inverting *v, uint32_t node)
{
	const struct calltree *t = v->from;

	for (uint32_t c = t->node[node].child; c != CALLTREE_NONE; c = t->node[c].next) {
		uint32_t name = t->node[c].name;

		if (v->wanted[name])
			add_callers(v, c, v->open[name]);
		v->open[name]++;
		invert(v, c);
		v->open[name]--;
	}
}

struct calltree *select_callers(const struct calltree *t, const char *glob)
{
	bool *wanted = names_matching(t, glob);
	struct inverting v = {.from = t, .wanted = wanted};

	v.open = calloc(t->nr_names + 1, sizeof(*v.open));
	v.to = wanted && v.open ? tree_like(t) : NULL;
	if (v.to)
		v.to->inverted = true;
	for (uint32_t c = t->node[CALLTREE_ROOT].child; v.to && c != CALLTREE_NONE;
	     c = t->node[c].next) {
		v.task = calltree_name_of(t, c);
		invert(&v, c);
	}
	free(v.open);
	free(wanted);
	return v.to;
}

/* --- functions ---------------------------------------------------------------------------- */

struct flattening {
	const struct calltree *from;
	struct calltree *to;
	uint32_t all;
	uint32_t *open; /* by name: how many calls of it are around */
};

/* NOLINTNEXTLINE(misc-no-recursion): no deeper than CALLTREE_DEPTH */
static void flatten(struct flattening *f, uint32_t node)
{
	const struct calltree *t = f->from;

	for (uint32_t c = t->node[node].child; c != CALLTREE_NONE; c = t->node[c].next) {
		struct call_stats st = t->node[c].st;

		if (f->open[t->node[c].name])
			st.total = 0;
		add_to(f->to, child_named(f->to, f->all, calltree_name_of(t, c)), &st);
		f->open[t->node[c].name]++;
		flatten(f, c);
		f->open[t->node[c].name]--;
	}
}

struct calltree *select_functions(const struct calltree *t)
{
	struct flattening f = {.from = t, .to = tree_like(t)};

	f.open = calloc(t->nr_names, sizeof(*f.open));
	if (!f.to || !f.open) {
		calltree_free(f.to);
		free(f.open);
		return NULL;
	}
	f.all = child_named(f.to, CALLTREE_ROOT, "");
	for (uint32_t c = t->node[CALLTREE_ROOT].child; c != CALLTREE_NONE; c = t->node[c].next)
		flatten(&f, c);
	free(f.open);
	return f.to;
}
