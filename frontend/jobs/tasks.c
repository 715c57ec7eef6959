// SPDX-License-Identifier: GPL-2.0-or-later
/* tasks.c - see tasks.h */
#include "frontend/jobs/tasks.h"

#include <stdlib.h>

bool job_tasks_init(struct job_tasks *t)
{
	t->task = calloc(JOB_TASKS_MAX, sizeof(*t->task));
	return keyed_init(&t->by_pid, JOB_TASKS_MAX) && t->task;
}

void job_forget_stack(struct job_task *task)
{
	free(task->stack);
	task->stack = NULL;
}

static void forget(struct job_task *task)
{
	job_forget_stack(task);
	free(task->calls);
	task->calls = NULL;
}

void job_tasks_exit(struct job_tasks *t)
{
	for (uint32_t i = 0; i < t->nr; i++)
		forget(&t->task[i]);
	free(t->task);
	keyed_exit(&t->by_pid);
}

static bool is_open(const struct job_task *task)
{
	return task->open || task->running;
}

/* Those of which nothing is open go; if that makes hardly any room, all do. */
static void sweep(struct job_tasks *t)
{
	uint32_t open = 0, kept = 0;

	for (uint32_t i = 0; i < t->nr; i++)
		open += is_open(&t->task[i]);
	keyed_clear(&t->by_pid);
	for (uint32_t i = 0; i < t->nr; i++) {
		struct job_task *task = &t->task[i];

		if (open > JOB_TASKS_MAX / 2 || !is_open(task)) {
			t->forgotten += task->open;
			forget(task);
			continue;
		}
		*keyed_place(&t->by_pid, (uint32_t)task->pid) = kept;
		t->task[kept++] = *task;
	}
	t->nr = kept;
}

struct job_task *job_tasks_get(struct job_tasks *t, int32_t pid, bool *made)
{
	uint32_t *at = keyed_place(&t->by_pid, (uint32_t)pid);

	*made = *at == KEYED_NONE;
	if (!*made)
		return &t->task[*at];
	if (t->nr == JOB_TASKS_MAX) {
		sweep(t);
		at = keyed_place(&t->by_pid, (uint32_t)pid);
	}
	*at = t->nr++;
	t->task[*at] = (struct job_task){.pid = pid};
	return &t->task[*at];
}
