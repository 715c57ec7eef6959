// SPDX-License-Identifier: GPL-2.0-or-later
/* kft.c - see kft.h */
#include "tracer/output/kft.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "tracer/output/output.h"
#include "tracer/ring/entry.h"

enum { DEPTH_MAX = 256 }; /* deeper calls have neither entries nor callers */

#define OPEN UINT64_MAX
#define NONE UINT32_MAX

struct call {
	uint64_t start, ns; /* ns: OPEN until it has returned */
	uint64_t func;
	uint32_t task, number; /* of its task; in the order of the events */
	int32_t depth;
	int32_t pid;
	unsigned int cpu;
};

/* One task, or the idle task of one CPU. Who makes up the trace may make up many. */
struct task {
	int64_t key;
	uint32_t *at; /* the call at each depth, or NONE */
	int32_t depths;
};

struct kft {
	struct call *call;
	size_t nr, room, printed;
	struct task *task;
	uint32_t nr_tasks, room_tasks;
	uint32_t *place; /* of tasks, by key; as many as there is room for, twice */
	bool failed;
};

struct kft *kft_new(void)
{
	return calloc(1, sizeof(struct kft));
}

void kft_free(struct kft *k)
{
	if (!k)
		return;
	for (uint32_t i = 0; i < k->nr_tasks; i++)
		free(k->task[i].at);
	free(k->call);
	free(k->task);
	free(k->place);
	free(k);
}

/* --- tasks -------------------------------------------------------------------------------- */

/* Where the number of that task is, or would be. */
static uint32_t *task_place(struct kft *k, int64_t key)
{
	uint32_t mask = 2 * k->room_tasks - 1;
	uint32_t i = (uint32_t)((uint64_t)key * UINT64_C(0x9e3779b97f4a7c15) >> 32) & mask;

	while (k->place[i] != NONE && k->task[k->place[i]].key != key)
		i = (i + 1) & mask;
	return &k->place[i];
}

static bool tasks_grow(struct kft *k)
{
	uint32_t room = k->room_tasks ? 2 * k->room_tasks : 64;
	struct task *task = realloc(k->task, room * sizeof(*task));
	uint32_t *place = malloc(2 * (size_t)room * sizeof(*place));

	if (task)
		k->task = task;
	if (!task || !place) {
		free(place);
		return false;
	}
	free(k->place);
	k->place = place;
	k->room_tasks = room;
	memset(place, 0xff, 2 * (size_t)room * sizeof(*place));
	for (uint32_t i = 0; i < k->nr_tasks; i++)
		*task_place(k, k->task[i].key) = i;
	return true;
}

/* Its number, or NONE without memory. */
static uint32_t task_find(struct kft *k, int32_t pid, unsigned int cpu)
{
	int64_t key = pid ? pid : -(int64_t)cpu - INT64_C(0x100000000);
	uint32_t *place;

	if (k->nr_tasks == k->room_tasks && !tasks_grow(k))
		return NONE;
	place = task_place(k, key);
	if (*place == NONE) {
		*place = k->nr_tasks++;
		k->task[*place] = (struct task){.key = key};
	}
	return *place;
}

/* Where its call at that depth is kept; NULL: calls so deep are not, or there is no memory. */
static uint32_t *task_call(struct kft *k, uint32_t task, int32_t depth)
{
	struct task *t = &k->task[task];
	int32_t depths;
	uint32_t *at;

	if (depth < 0 || depth >= DEPTH_MAX)
		return NULL;
	if (depth >= t->depths) {
		depths = (depth | 7) + 1;
		at = realloc(t->at, (size_t)depths * sizeof(*at));
		if (!at) {
			k->failed = true;
			return NULL;
		}
		memset(at + t->depths, 0xff, (size_t)(depths - t->depths) * sizeof(*at));
		t->at = at;
		t->depths = depths;
	}
	return &t->at[depth];
}

/* --- calls -------------------------------------------------------------------------------- */

static struct call *call_add(struct kft *k, const struct trace_entry *ent, unsigned int cpu)
{
	uint32_t task = task_find(k, ent->pid, cpu);
	struct call *c;

	if (k->nr == k->room) {
		size_t room = k->room ? 2 * k->room : 1024;

		c = room < NONE ? realloc(k->call, room * sizeof(*c)) : NULL;
		if (!c) {
			k->failed = true;
			return NULL;
		}
		k->call = c;
		k->room = room;
	}
	k->failed |= task == NONE;
	c = &k->call[k->nr];
	*c = (struct call){.task = task, .number = (uint32_t)k->nr, .pid = ent->pid, .cpu = cpu};
	k->nr += task != NONE;
	return task == NONE ? NULL : c;
}

static void call_begins(struct kft *k, unsigned int cpu, uint64_t ts,
			const struct trace_graph_entry *e)
{
	struct call *c = call_add(k, &e->ent, cpu);
	uint32_t *at;

	if (!c)
		return;
	c->start = ts;
	c->ns = OPEN;
	c->func = e->func;
	c->depth = e->depth;
	at = task_call(k, c->task, e->depth);
	if (at)
		*at = c->number;
}

/* The open call that this is the return of, or NULL: its entry was lost, or not recorded. */
static struct call *call_open(struct kft *k, unsigned int cpu, const struct trace_graph_exit *e)
{
	uint32_t task = task_find(k, e->ent.pid, cpu);
	uint32_t *at = task == NONE ? NULL : task_call(k, task, e->depth);
	struct call *c;

	if (!at || *at == NONE)
		return NULL;
	c = &k->call[*at];
	*at = NONE;
	return c->func == e->func ? c : NULL;
}

static void call_ends(struct kft *k, unsigned int cpu, const struct trace_graph_exit *e)
{
	struct call *c = call_open(k, cpu, e);

	if (!c)
		c = call_add(k, &e->ent, cpu);
	if (!c)
		return;
	c->start = e->calltime;
	c->ns = e->rettime - e->calltime;
	c->func = e->func;
	c->depth = e->depth;
	c->cpu = cpu;
}

void kft_event(struct kft *k, unsigned int cpu, const struct ring_event *ev)
{
	const struct trace_entry *ent = ev->data;

	if (ev->len >= sizeof(struct trace_graph_entry) && ent->type == TRACE_GRAPH_ENT)
		call_begins(k, cpu, ev->ts, ev->data);
	else if (ev->len >= sizeof(struct trace_graph_exit) && ent->type == TRACE_GRAPH_RET)
		call_ends(k, cpu, ev->data);
}

/* --- the table ---------------------------------------------------------------------------- */

static int compare_u64(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

/* Of calls that begin at the same time the outer one is first. */
static int compare_calls(const void *a, const void *b)
{
	const struct call *x = a, *y = b;
	int order = compare_u64(x->start, y->start);

	if (!order && x->task == y->task)
		order = (x->depth > y->depth) - (x->depth < y->depth);
	return order ? order : compare_u64(x->number, y->number);
}

static bool lasts_until(const struct call *c, uint64_t ts)
{
	return c->ns == OPEN || ts - c->start <= c->ns;
}

/* Calls are looked at in their order; it is the last one that began a level higher. */
static const struct call *call_caller(struct kft *k, const struct call *c)
{
	const struct call *outer = NULL;
	uint32_t *at = task_call(k, c->task, c->depth);

	if (!at)
		return NULL;
	if (c->depth && at[-1] != NONE)
		outer = &k->call[at[-1]];
	*at = (uint32_t)(c - k->call);
	return outer && lasts_until(outer, c->start) ? outer : NULL;
}

static void print_function(const struct output_config *cfg, uint64_t func, struct text *out)
{
	struct output_symbol sym = {0};

	if (cfg->symbol(cfg->arg, func, &sym))
		text_puts(out, sym.name);
	else
		text_printf(out, "0x%" PRIx64, func);
}

static void print_call(const struct call *c, const struct call *caller, uint64_t first,
		       const struct output_config *cfg, struct text *out)
{
	char delta[24] = "-1", pid[24];
	size_t start;

	if (c->ns != OPEN)
		snprintf(delta, sizeof(delta), "%" PRIu64, c->ns / 1000);
	snprintf(pid, sizeof(pid), "%d.%u", c->pid, c->cpu);
	text_printf(out, "%8" PRIu64 " %8s %8s ", (c->start - first) / 1000, delta, pid);
	start = out->len;
	print_function(cfg, c->func, out);
	text_printf(out, "%*s", out->len - start < 16 ? (int)(16 - (out->len - start)) + 1 : 1, "");
	if (caller)
		print_function(cfg, caller->func, out);
	else
		text_puts(out, "-");
	text_putc(out, '\n');
}

/* Calls without a time that compares with the others' go. */
static void drop_open_calls(struct kft *k)
{
	size_t nr = 0;

	for (size_t i = 0; i < k->nr; i++)
		if (k->call[i].ns != OPEN)
			k->call[nr++] = k->call[i];
	k->nr = nr;
}

bool kft_begin(struct kft *k, const struct output_config *cfg, struct text *out)
{
	text_puts(out, "Entry Delta PID Function Caller\n"
		       "-------- -------- -------- ---------------- ------------\n");
	if (!cfg->ns)
		drop_open_calls(k);
	if (k->nr)
		qsort(k->call, k->nr, sizeof(k->call[0]), compare_calls);
	for (uint32_t i = 0; i < k->nr_tasks; i++)
		for (int32_t depth = 0; depth < k->task[i].depths; depth++)
			k->task[i].at[depth] = NONE;
	return !k->failed;
}

bool kft_next(struct kft *k, const struct output_config *cfg, struct text *out)
{
	const struct call *c;

	if (k->printed == k->nr)
		return false;
	c = &k->call[k->printed++];
	print_call(c, call_caller(k, c), k->call[0].start, cfg, out);
	return true;
}
