// SPDX-License-Identifier: GPL-2.0-or-later
/* calls.c - see calls.h */
#include "frontend/report/calls.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An open call. */
struct frame {
	uint32_t node;	   /* without a name: detached from the tree */
	uint64_t start;	   /* the time, or 0 */
	uint64_t children; /* nanoseconds in what it has called */
	bool named;
};

struct task {
	int64_t key;
	uint32_t node;
	unsigned int cpu; /* of its latest event */
	uint64_t last;	  /* when that was */
	struct frame *frame;
	int nr, room;
};

/* Time on a CPU is that of whoever had the event before. */
struct cpu {
	uint64_t first, last; /* times; 0: there was none */
	uint32_t task;	      /* CALLTREE_NONE: none yet */
};

struct calls {
	struct calltree *tree;
	uint64_t since;
	struct task *task;
	uint32_t nr, room;
	uint32_t *place; /* of tasks, by key; as many as there is room for, twice */
	struct cpu cpu[CALLS_CPUS];
};

struct calls *calls_new(struct calltree *t, uint64_t since)
{
	struct calls *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->tree = t;
	c->since = t->from = since;
	for (size_t i = 0; i < CALLS_CPUS; i++)
		c->cpu[i].task = CALLTREE_NONE;
	return c;
}

/* --- tasks -------------------------------------------------------------------------------- */

static uint32_t *task_place(struct calls *c, int64_t key)
{
	uint32_t mask = 2 * c->room - 1;
	uint32_t i = (uint32_t)((uint64_t)key * UINT64_C(0x9e3779b97f4a7c15) >> 32) & mask;

	while (c->place[i] != CALLTREE_NONE && c->task[c->place[i]].key != key)
		i = (i + 1) & mask;
	return &c->place[i];
}

static bool tasks_grow(struct calls *c)
{
	uint32_t room = c->room ? 2 * c->room : 64;
	struct task *task = realloc(c->task, room * sizeof(*task));
	uint32_t *place;

	if (!task)
		return false;
	c->task = task;
	place = malloc(2 * (size_t)room * sizeof(*place));
	if (!place)
		return false;
	free(c->place);
	c->place = place;
	c->room = room;
	memset(place, 0xff, 2 * (size_t)room * sizeof(*place));
	for (uint32_t i = 0; i < c->nr; i++)
		*task_place(c, c->task[i].key) = i;
	return true;
}

static uint32_t task_node(struct calls *c, const struct call_event *ev)
{
	char name[64];

	if (ev->pid < 0)
		snprintf(name, sizeof(name), "CPU %u", ev->cpu);
	else
		snprintf(name, sizeof(name), "%.32s-%" PRId32, ev->comm ? ev->comm : "<...>",
			 ev->pid);
	return calltree_child(c->tree, CALLTREE_ROOT, calltree_name(c->tree, name, strlen(name)));
}

/* Its number, or NONE without memory. */
static uint32_t task_find(struct calls *c, const struct call_event *ev)
{
	int64_t key = ev->pid > 0 ? ev->pid : -(int64_t)ev->cpu - (ev->pid < 0 ? CALLS_CPUS : 0);
	uint32_t *place;

	if (c->nr == c->room && !tasks_grow(c)) {
		c->tree->full = true;
		return CALLTREE_NONE;
	}
	place = task_place(c, key);
	if (*place == CALLTREE_NONE) {
		c->task[c->nr] = (struct task){.key = key, .node = task_node(c, ev)};
		*place = c->nr++;
	}
	return *place;
}

/* --- frames ------------------------------------------------------------------------------- */

static struct frame *top(const struct task *t)
{
	return t->nr ? &t->frame[t->nr - 1] : NULL;
}

static uint32_t top_node(const struct task *t)
{
	return t->nr ? t->frame[t->nr - 1].node : t->node;
}

static bool push(struct calls *c, struct task *t, uint32_t node, uint64_t start, bool named)
{
	if (t->nr == t->room) {
		int room = t->room ? 2 * t->room : 16;
		struct frame *frame = realloc(t->frame, (size_t)room * sizeof(*frame));

		if (!frame) {
			c->tree->full = true;
			return false;
		}
		t->frame = frame;
		t->room = room;
	}
	t->frame[t->nr++] = (struct frame){.node = node, .start = start, .named = named};
	return true;
}

/* The innermost call is over, and took so long as far as it is in the trace. */
static void pop(struct calls *c, struct task *t, uint64_t ns, bool whole)
{
	struct frame f = t->frame[--t->nr];
	uint64_t total = ns > f.children ? ns : f.children;
	struct frame *outer = top(t);

	if (!f.named) {
		/* What it called is left of it. */
		if (f.node != CALLTREE_NONE && top_node(t) != CALLTREE_NONE)
			calltree_dissolve(c->tree, top_node(t), f.node);
		total = f.children;
	} else if (f.node != CALLTREE_NONE) {
		struct call_stats *st = &c->tree->node[f.node].st;

		st->total += total;
		st->self += total - f.children;
		if (whole && ns > st->max)
			st->max = ns;
	}
	if (outer)
		outer->children += total;
}

/* Its return is not in the trace: it lasted until ts at most. */
static void pop_cut(struct calls *c, struct task *t, uint64_t ts)
{
	const struct frame *f = top(t);

	pop(c, t, f->start && ts > f->start ? ts - f->start : 0, false);
}

/* So many calls are open now, whatever has been seen. False: no memory. */
static bool align(struct calls *c, struct task *t, int depth, uint64_t ts)
{
	while (t->nr > depth)
		pop_cut(c, t, ts);
	while (t->nr < depth)
		if (!push(c, t, calltree_detached(c->tree), 0, false))
			return false;
	return true;
}

/* --- time on CPUs ------------------------------------------------------------------------- */

static void charge(struct calls *c, const struct task *t, uint64_t ns)
{
	if (t->nr && top_node(t) != CALLTREE_NONE)
		c->tree->node[top_node(t)].st.cpu += ns;
}

/*
 * What a detached node has used up is its own once it gets a name. Whoever has the first event of a
 * CPU ran before it.
 */
static void account(struct calls *c, const struct call_event *ev, const struct task *now)
{
	struct cpu *cpu = &c->cpu[ev->cpu];
	const struct task *before = cpu->task == CALLTREE_NONE ? now : &c->task[cpu->task];

	if (!ev->ts)
		return;
	/* Who has been somewhere else since is not who ran here. */
	if (cpu->last && ev->ts > cpu->last && before->cpu == ev->cpu)
		charge(c, before, ev->ts - cpu->last);
	if (!cpu->first)
		cpu->first = ev->ts;
	cpu->last = ev->ts;
	cpu->task = (uint32_t)(now - c->task);
}

/* --- events ------------------------------------------------------------------------------- */

static void enter(struct calls *c, struct task *t, const struct call_event *ev)
{
	uint32_t node = calltree_child(c->tree, top_node(t), ev->name);

	if (push(c, t, node, ev->ts, true) && node != CALLTREE_NONE)
		c->tree->node[node].st.calls++;
}

/* The innermost call has no name, or a wrong one: its entry is missing. */
static void name_top(struct calls *c, struct task *t, const struct call_event *ev)
{
	struct frame f = *top(t);
	struct frame *named;
	uint32_t node;

	t->nr--;
	node = calltree_child(c->tree, top_node(t), ev->name);
	named = &t->frame[t->nr++];
	named->node = node;
	named->named = true;
	if (node == CALLTREE_NONE)
		return;
	c->tree->node[node].st.calls++;
	c->tree->node[node].st.begun++;
	if (f.node == CALLTREE_NONE)
		return;
	c->tree->node[node].st.cpu += c->tree->node[f.node].st.cpu;
	calltree_dissolve(c->tree, node, f.node);
}

/* How much of a call that ends now is in the trace. */
static uint64_t part_of(const struct calls *c, const struct call_event *ev)
{
	uint64_t first = c->cpu[ev->cpu].first;

	if (!ev->ts || !first)
		return ev->ns;
	return ev->ns < ev->ts - first ? ev->ns : ev->ts - first;
}

static bool is_top(const struct calls *c, const struct task *t, uint32_t name)
{
	const struct frame *f = top(t);

	return f->named && (name == CALLTREE_NONE || f->node == CALLTREE_NONE ||
			    c->tree->node[f->node].name == name);
}

static void leave(struct calls *c, struct task *t, const struct call_event *ev)
{
	bool whole = is_top(c, t, ev->name);

	if (!whole && ev->name != CALLTREE_NONE)
		name_top(c, t, ev);
	if (t->nr)
		pop(c, t, whole ? ev->ns : part_of(c, ev), whole);
}

/* The call around this return may be another one than was thought. */
static bool align_return(struct calls *c, struct task *t, const struct call_event *ev)
{
	int depth = ev->depth + 1;

	if (!align(c, t, depth, ev->ts))
		return false;
	if (top(t)->named && !is_top(c, t, ev->name))
		return align(c, t, ev->depth, ev->ts) && align(c, t, depth, ev->ts);
	return true;
}

static bool is_wanted(struct calls *c, const struct call_event *ev)
{
	struct calltree *t = c->tree;

	/* Two nodes are above the first call's. */
	if (ev->depth < 0 || ev->depth >= CALLTREE_DEPTH - 2 || ev->cpu >= CALLS_CPUS)
		return false;
	if (ev->ts && ev->ts < c->since) {
		c->cpu[ev->cpu].first = c->cpu[ev->cpu].last = c->since;
		return false;
	}
	if (ev->ts && (!t->from || ev->ts < t->from))
		t->from = ev->ts;
	if (ev->ts > t->until)
		t->until = ev->ts;
	t->has_cpu |= ev->ts;
	t->has_time |= ev->ts || ev->ns;
	return true;
}

void calls_event(struct calls *c, const struct call_event *ev)
{
	uint32_t number = is_wanted(c, ev) ? task_find(c, ev) : CALLTREE_NONE;
	struct task *t;

	if (number == CALLTREE_NONE)
		return;
	t = &c->task[number];
	if (!(ev->returns ? align_return(c, t, ev) : align(c, t, ev->depth, ev->ts)))
		return;
	t->cpu = ev->cpu;
	t->last = ev->ts;
	account(c, ev, t);
	if (ev->returns)
		leave(c, t, ev);
	else
		enter(c, t, ev);
}

void calls_end(struct calls *c)
{
	if (!c)
		return;
	for (uint32_t i = 0; i < c->nr; i++) {
		/* What is known of them ends there: tasks that are no more do not get older. */
		align(c, &c->task[i], 0, c->task[i].last);
		free(c->task[i].frame);
	}
	free(c->task);
	free(c->place);
	free(c);
}
