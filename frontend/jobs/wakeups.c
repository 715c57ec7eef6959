// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * wakeups.c - how long tasks that could run have waited for a vCPU: from where they were woken, or
 * lost it without having slept, until they got one.
 */
#include "frontend/jobs/worst.h"

#include <string.h>

enum { WOKEN, PREEMPTED };

/* What is shown as R: none of the bits of TASK_REPORT (include/linux/sched.h of the kernel). */
#define STATE_REPORT 0xff

static bool begin(struct work *w)
{
	w->own = worst_new(w->cfg->worst);
	return w->own;
}

/* Lost records may be of a switch: who was waiting is not known to wait still. */
static void before(struct work *w, const struct decode_event *ev)
{
	if (ev->lost)
		worst_lost(w->own, ev->cpu);
}

/* A wakeup comes behind its waking, where both are recorded. Who has a vCPU need not wait for one.
 */
static void on_wakeup(struct work *w, const struct tep_format_field *const *field,
		      const struct decode_event *ev)
{
	int32_t pid = job_pid(field[0], ev);
	struct job_task *t = pid > 0 ? job_task(w, pid, field[1], ev) : NULL;

	if (t && !t->running && !t->open)
		job_open(t, ev->time, WOKEN);
}

static void leaves(struct job_task *t, uint64_t state, uint64_t now)
{
	t->running = false;
	t->open = false;
	if (!(state & STATE_REPORT))
		job_open(t, now, PREEMPTED);
}

static void comes(struct work *w, struct job_task *t, const struct decode_event *ev)
{
	struct latency_row *row;

	t->running = true;
	if (!t->open) {
		w->result->unbegun++;
	} else if (job_wants(w, t->pid)) {
		worst_wait(w->own, t, ev->cpu, ev->time);
		row = job_row(w, t, ev->cpu, 0, "");
		if (row)
			latency_add(row, ev->time - t->from);
	}
	t->open = false;
}

static void on_switch(struct work *w, const struct tep_format_field *const *field,
		      const struct decode_event *ev)
{
	int32_t prev = job_pid(field[0], ev), next = job_pid(field[3], ev);
	struct job_task *t;
	uint64_t state, prio;

	/* Without a state it is not known whether it could run. */
	if (prev > 0 && formats_number(field[2], ev, &state))
		leaves(job_task(w, prev, field[1], ev), state, ev->time);
	if (next <= 0) {
		worst_switch(w->own, ev->cpu, ev->time, 0, (const char[JOB_COMM]){0});
		return;
	}
	t = job_task(w, next, field[4], ev);
	if (formats_number(field[5], ev, &prio))
		t->prio = (int32_t)prio;
	comes(w, t, ev);
	worst_switch(w->own, ev->cpu, ev->time, next, t->comm);
}

static void end(struct work *w)
{
	worst_end(w->own, w->result);
}

static void free_own(struct work *w)
{
	worst_free(w->own);
}

static const struct job_event events[] = {
	{"sched",
	 "sched_switch",
	 {"prev_pid", "prev_comm", "prev_state", "next_pid", "next_comm", "next_prio"},
	 on_switch,
	 false},
	{"sched", "sched_waking", {"pid", "comm"}, on_wakeup, false},
	{"sched", "sched_wakeup", {"pid", "comm"}, on_wakeup, false},
	{"sched", "sched_wakeup_new", {"pid", "comm"}, on_wakeup, false},
	/* The tracer wakeup's own. */
	{"ftrace", "wakeup", {"next_pid"}, on_wakeup, false},
	{"ftrace",
	 "context_switch",
	 {"prev_pid", "", "prev_state", "next_pid", "", "next_prio"},
	 on_switch,
	 false},
	{NULL, NULL, {NULL}, NULL, false},
};

const struct job job_wakeups = {
	.name = "wakeups",
	.words = {"waits for a vCPU", "rows", "WHO WAITED", false},
	.by = {"task", "name", "cpu", "prio"},
	.needs = "sched:sched_switch and sched:sched_wakeup",
	.events = events,
	.begin = begin,
	.before = before,
	.end = end,
	.free = free_own,
};
