// SPDX-License-Identifier: GPL-2.0-or-later
/* timeline-sched.c - which tasks there are, and how long they wait for a vCPU once they are woken.
 */
#include "frontend/export/timeline-local.h"

#include "frontend/decode/fields.h"

#define CLONE_THREAD 0x00010000 /* clone(2) */

/* The task that the first field tells, by the name that the second one tells. NULL: none. */
static struct task *named_task(struct timeline *t, const struct tep_format_field *const *field,
			       const struct decode_event *ev)
{
	struct field_bytes text;
	struct task *task;
	int32_t pid;

	if (!timeline_pid(field[0], ev, &pid))
		return NULL;
	task = timeline_task(t, ev, pid);
	if (!task || !field[1] || !pid)
		return task;
	text = fields_text(field[1], ev);
	timeline_rename(t, task, (const char *)text.at, text.len);
	return task;
}

static bool on_switch(struct timeline *t, const struct timeline_row *row,
		      const struct tep_format_field *const *field, const struct decode_event *ev)
{
	struct task *task;

	(void)row;
	named_task(t, field, ev);
	task = named_task(t, field + 2, ev);
	if (task && task->wakeup.open)
		timeline_close(t, &task->wakeup, t->waking);
	return false;
}

/* A wakeup comes behind its waking, where both are recorded; and who is woken may be so again. */
static bool on_waking(struct timeline *t, const struct timeline_row *row,
		      const struct tep_format_field *const *field, const struct decode_event *ev)
{
	struct task *task = named_task(t, field, ev);

	(void)row;
	if (task && task->pid && !task->wakeup.open)
		timeline_begin(t, &task->wakeup, t->waking);
	return false;
}

/* Whoever makes it is the current task. */
static bool on_new(struct timeline *t, const struct timeline_row *row,
		   const struct tep_format_field *const *field, const struct decode_event *ev)
{
	struct task *task = timeline_task(t, ev, ev->pid);
	int32_t parent = task ? task->tgid : 0, pid;
	uint64_t flags;
	bool thread = formats_number(field[2], ev, &flags) && flags & CLONE_THREAD;

	(void)row;
	if (!timeline_pid(field[0], ev, &pid) || !pid)
		return false;
	task = timeline_made(t, ev, pid);
	if (!task)
		return false;
	task->tgid = thread ? parent : pid;
	task->ppid = thread ? -1 : parent;
	named_task(t, field, ev);
	return false;
}

static bool on_rename(struct timeline *t, const struct timeline_row *row,
		      const struct tep_format_field *const *field, const struct decode_event *ev)
{
	(void)row;
	named_task(t, field, ev);
	return false;
}

const struct timeline_row timeline_sched_rows[] = {
	{"sched", "sched_switch", {"prev_pid", "prev_comm", "next_pid", "next_comm"}, on_switch},
	{"sched", "sched_waking", {"pid", "comm"}, on_waking},
	{"sched", "sched_wakeup", {"pid", "comm"}, on_waking},
	{"sched", "sched_wakeup_new", {"pid", "comm"}, on_waking},
	/* The tracer wakeup's own. */
	{"ftrace", "wakeup", {"next_pid"}, on_waking},
	{"ftrace", "context_switch", {"prev_pid", "", "next_pid"}, on_switch},
	{"task", "task_newtask", {"pid", "comm", "clone_flags"}, on_new},
	{"task", "task_rename", {"pid", "newcomm"}, on_rename},
	{NULL, NULL, {NULL}, NULL},
};
