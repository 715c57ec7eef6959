// SPDX-License-Identifier: GPL-2.0-or-later
/* timeline-calls.c - what the function tracers have recorded. */
#include "frontend/export/timeline-local.h"

static void pop(struct timeline *t, struct task *task)
{
	timeline_close(t, &task->calls, task->frame[--task->nr].name);
}

/* What is as deep as that, or deeper, is over, though no end of it was seen. */
void timeline_end_calls(struct timeline *t, struct task *task, int32_t depth)
{
	while (task->nr && task->frame[task->nr - 1].depth >= depth) {
		t->x->result.unended++;
		pop(t, task);
	}
}

/* func, depth: of either end of a call. NULL: the record does not tell, or lies. */
static struct task *read_call(struct timeline *t, const struct tep_format_field *const *field,
			      const struct decode_event *ev, struct frame *f)
{
	struct task *task = timeline_task(t, ev, ev->pid);
	uint64_t depth;

	if (task && formats_number(field[0], ev, &f->func) &&
	    formats_number(field[1], ev, &depth)) {
		f->depth = (int32_t)depth;
		if (f->depth >= 0 && f->depth < DEPTH_MAX)
			return task;
	}
	t->x->result.left_out++;
	return NULL;
}

static bool on_entry(struct timeline *t, const struct timeline_row *row,
		     const struct tep_format_field *const *field, const struct decode_event *ev)
{
	struct frame f;
	struct task *task = read_call(t, field, ev, &f);

	(void)row;
	if (!task)
		return true;
	f.name = names_function(t->names, f.func);
	timeline_end_calls(t, task, f.depth);
	if (tasks_push(&t->tasks, task, &f))
		timeline_begin(t, &task->calls, f.name);
	else
		t->x->failed = true;
	return true;
}

static bool on_exit(struct timeline *t, const struct timeline_row *row,
		    const struct tep_format_field *const *field, const struct decode_event *ev)
{
	struct frame f;
	struct task *task = read_call(t, field, ev, &f);
	const struct frame *top;

	(void)row;
	if (!task)
		return true;
	timeline_end_calls(t, task, f.depth + 1);
	top = task->nr ? &task->frame[task->nr - 1] : NULL;
	if (top && top->depth == f.depth && top->func == f.func) {
		pop(t, task);
		return true;
	}
	/* Of a call that has begun before the trace, or where events are missing. */
	timeline_end_calls(t, task, f.depth);
	t->x->result.unbegun++;
	return true;
}

static bool on_function(struct timeline *t, const struct timeline_row *row,
			const struct tep_format_field *const *field, const struct decode_event *ev)
{
	struct task *task = timeline_task(t, ev, ev->pid);
	uint64_t ip;

	(void)row;
	if (!task || !formats_number(field[0], ev, &ip))
		t->x->result.left_out++;
	else if (t->ops->instant)
		t->ops->instant(t->arg, &task->calls, t->now, names_function(t->names, ip));
	return true;
}

const struct timeline_row timeline_call_rows[] = {
	{"ftrace", "function", {"ip"}, on_function},
	{"ftrace", "funcgraph_entry", {"func", "depth"}, on_entry},
	{"ftrace", "funcgraph_exit", {"func", "depth"}, on_exit},
	{NULL, NULL, {NULL}, NULL},
};
