// SPDX-License-Identifier: GPL-2.0-or-later
/* pids.c - says which of the tasks that are to be traced a guest does not have. */
#include "tracer/internal.h"
#include "tracer/guest/tasks.h"

#include <inttypes.h>
#include <stdlib.h>

struct search {
	struct trace *t;
	struct task_layout at;
	bool *found; /* of each of cfg.pids */
	size_t left; /* that are not */
};

static bool see_task(void *arg, const struct task *task)
{
	struct search *s = arg;
	const struct trace_config *cfg = &s->t->cfg;
	uint32_t pid;

	if (guest_read(&s->t->guest, task->addr + s->at.pid, &pid, sizeof(pid)))
		return true;
	for (size_t i = 0; i < cfg->nr_pids; i++)
		if (!s->found[i] && strtoull(cfg->pids[i], NULL, 10) == pid) {
			s->found[i] = true;
			s->left--;
		}
	return s->left;
}

/* The list of tasks has no idle ones. */
static void leave_idle(struct search *s)
{
	const struct trace_config *cfg = &s->t->cfg;

	for (size_t i = 0; i < cfg->nr_pids; i++)
		if (!strtoull(cfg->pids[i], NULL, 10)) {
			s->found[i] = true;
			s->left--;
		}
}

void pids_tell_missing(struct trace *t)
{
	struct search s = {.t = t, .left = t->cfg.nr_pids};
	int ret;

	if (!s.left || task_layout_learn(&s.at, t->gs, &t->guest))
		return;
	s.found = calloc(s.left, sizeof(*s.found));
	if (!s.found)
		return;
	leave_idle(&s);
	machine_pause_for(t->m, "looking for tasks");
	ret = s.left ? tasks_each(&t->guest, &s.at, see_task, &s) : 0;
	machine_resume(t->m);
	for (size_t i = 0; !ret && i < t->cfg.nr_pids; i++)
		if (!s.found[i])
			trace_note(t, "the guest has no task %s (-P) now", t->cfg.pids[i]);
	free(s.found);
}
