// SPDX-License-Identifier: GPL-2.0-or-later
/* timeline-sched.c - which tasks there are, and how long they wait for a vCPU once they are woken.
 */
#include "frontend/export/timeline-local.h"

#include "frontend/decode/fields.h"

#define CLONE_THREAD 0x00010000 /* clone(2) */

static void rename_by(struct timeline *t, struct task *task, const struct tep_format_field *comm,
		      const struct decode_event *ev)
{
	struct field_bytes text;

	if (!comm || !task->pid)
		return;
	text = fields_text(comm, ev);
	timeline_rename(t, task, (const char *)text.at, text.len);
}

static bool on_switch(struct timeline *t, const struct timeline_row *row,
		      const struct tep_format_field *const *field, const struct decode_event *ev)
{
	struct task *task;
	int32_t pid;

	(void)row;
	task = timeline_pid(field[0], ev, &pid) ? timeline_task(t, ev, pid) : NULL;
	if (task)
		rename_by(t, task, field[1], ev);
	task = timeline_pid(field[2], ev, &pid) ? timeline_task(t, ev, pid) : NULL;
	if (!task)
		return false;
	rename_by(t, task, field[3], ev);
	if (task->wakeup.open)
		timeline_close(t, &task->wakeup, t->waking);
	return false;
}

/* A wakeup comes behind its waking, where both are recorded; and who is woken may be so again. */
static bool on_waking(struct timeline *t, const struct timeline_row *row,
		      const struct tep_format_field *const *field, const struct decode_event *ev)
{
	struct task *task;
	int32_t pid;

	(void)row;
	if (!timeline_pid(field[0], ev, &pid) || !pid)
		return false;
	task = timeline_task(t, ev, pid);
	if (!task)
		return false;
	rename_by(t, task, field[1], ev);
	if (!task->wakeup.open)
		timeline_begin(t, &task->wakeup, t->waking);
	return false;
}

/* Whoever makes it is the current task. */
static bool on_new(struct timeline *t, const struct timeline_row *row,
		   const struct tep_format_field *const *field, const struct decode_event *ev)
{
	struct task *task = timeline_task(t, ev, ev->pid);
	int32_t parent = task ? task->tgid : 0, pid;
	uint64_t flags = 0;

	(void)row;
	if (!timeline_pid(field[0], ev, &pid) || !pid)
		return false;
	if (field[2])
		formats_number(field[2], ev, &flags);
	task = timeline_task(t, ev, pid);
	if (!task)
		return false;
	task->ppid = flags & CLONE_THREAD ? -1 : parent;
	task->tgid = flags & CLONE_THREAD ? parent : pid;
	*task->comm = '\0'; /* so that it is told again */
	rename_by(t, task, field[1], ev);
	return false;
}

static bool on_rename(struct timeline *t, const struct timeline_row *row,
		      const struct tep_format_field *const *field, const struct decode_event *ev)
{
	struct task *task;
	int32_t pid;

	(void)row;
	task = timeline_pid(field[0], ev, &pid) ? timeline_task(t, ev, pid) : NULL;
	if (task)
		rename_by(t, task, field[1], ev);
	return false;
}

const struct timeline_row timeline_sched_rows[] = {
	{"sched", "sched_switch", {"prev_pid", "prev_comm", "next_pid", "next_comm"}, on_switch},
	{"sched", "sched_waking", {"pid", "comm"}, on_waking},
	{"sched", "sched_wakeup", {"pid", "comm"}, on_waking},
	{"sched", "sched_wakeup_new", {"pid", "comm"}, on_waking},
	{"task", "task_newtask", {"pid", "comm", "clone_flags"}, on_new},
	{"task", "task_rename", {"pid", "newcomm"}, on_rename},
	{NULL, NULL, {NULL}, NULL},
};
