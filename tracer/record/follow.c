// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * follow.c - sees tasks come and go.
 *
 * Every new task is woken up by wake_up_new_task(), by its parent, and has not run before.
 *
 * A task has gone when nobody can find it any more and it has been switched out for the last time,
 * in whatever order: for each of the two put_task_struct_rcu_user() is called once, by whom it
 * may concern (release_task(), finish_task_switch()). The kernel's own tracer takes the pid off its
 * lists a grace period of RCU later; all that the task has called is over by then, and here.
 *
 * Both are called by tasks, never by interrupts: so no call of theirs to the host is left out
 * because this vCPU waits for the host already.
 */
#include "tracer/record/follow.h"
#include "tracer/core/lock.h"
#include "tracer/instance/instance.h"
#include "tracer/probe/trampoline/trampoline.h"
#include "tracer/record/record.h"

#include <stdlib.h>
#include <string.h>

#define EXIT_DEAD 0x10 /* include/linux/sched.h */

struct follow *follow_new(const struct probe_set *probes, const struct guestsym *gs)
{
	struct follow *f = calloc(1, sizeof(*f));
	struct guestsym_field exit_state, on_cpu;

	if (!f)
		return NULL;
	f->task_new = probe_named(probes, "wake_up_new_task");
	f->task_gone = probe_named(probes, "put_task_struct_rcu_user");
	f->known = f->task_new != UINT32_MAX && f->task_gone != UINT32_MAX &&
		   !guestsym_field(gs, "task_struct.exit_state", &exit_state) &&
		   !guestsym_field(gs, "task_struct.on_cpu", &on_cpu);
	if (f->known) {
		f->exit_state = exit_state.offset;
		f->on_cpu = on_cpu.offset;
	}
	return f;
}

static bool follows_functions(const struct instance *i)
{
	return i->options & OUTPUT_FUNCTION_FORK && pid_filter_on(&i->pids);
}

static bool follows_events(const struct instance *i)
{
	return i->options & OUTPUT_EVENT_FORK && pid_filter_on(&i->event_pids);
}

void follow_update(struct trace *t)
{
	t->follow->on = false;
	for (const struct instance *i = t->instances; i; i = i->next)
		t->follow->on |= t->follow->known && (follows_functions(i) || follows_events(i));
}

uint32_t follow_guards(const struct follow *f, uint32_t probe)
{
	if (!f->on)
		return 0;
	return probe == f->task_new ? GUARD_TASK_NEW : probe == f->task_gone ? GUARD_TASK_GONE : 0;
}

/* --- hits ------------------------------------------------------------------------------------ */

static uint32_t task_u32(struct trace *t, uint64_t task, uint64_t off)
{
	uint32_t value = 0;

	return guest_read(&t->guest, task + off, &value, sizeof(value)) ? 0 : value;
}

static int32_t task_pid(struct trace *t, uint64_t task)
{
	return (int32_t)task_u32(t, task, t->guest.at.task_pid);
}

/* The lists have changed about this task. t->instances_lock is held. */
static void tell_payload(struct trace *t, int32_t pid)
{
	bool listed = false;

	for (const struct instance *i = t->instances; i; i = i->next)
		listed |= pid_list_has(i->pids.list[PID_FILTER_TRACE], pid);
	trampoline_set_pid(t, pid, listed);
}

static void task_new(struct trace *t, uint64_t task, uint64_t parent)
{
	int32_t pid = task_pid(t, task), parent_pid = task_pid(t, parent);

	if (pid <= 0)
		return; /* it cannot be read */
	for (struct instance *i = t->instances; i; i = i->next) {
		if (follows_functions(i))
			pid_filter_fork(&i->pids, parent_pid, pid);
		if (follows_events(i))
			pid_filter_fork(&i->event_pids, parent_pid, pid);
	}
	tell_payload(t, pid);
}

/* What it has called comes first: whether that is recorded, the lists say when it is written. */
static void task_gone(struct trace *t, uint64_t task)
{
	int32_t pid = task_pid(t, task);

	if (task_u32(t, task, t->follow->exit_state) != EXIT_DEAD ||
	    task_u32(t, task, t->follow->on_cpu) || pid <= 0)
		return;
	trace_writers_stop(t);
	record_drain_vcpus(t);
	for (struct instance *i = t->instances; i; i = i->next) {
		if (follows_functions(i))
			pid_filter_task_exit(&i->pids, pid);
		if (follows_events(i))
			pid_filter_task_exit(&i->event_pids, pid);
	}
	trace_writers_go(t);
	tell_payload(t, pid);
}

void follow_hit(struct trace *t, uint32_t guards, const struct machine_hit *hit)
{
	instances_lock(t);
	if (guards & GUARD_TASK_NEW)
		task_new(t, hit->regs->rdi, guest_current(&t->guest, hit->vcpu));
	if (guards & GUARD_TASK_GONE)
		task_gone(t, hit->regs->rdi);
	instances_unlock(t);
}
