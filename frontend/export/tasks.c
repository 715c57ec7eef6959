// SPDX-License-Identifier: GPL-2.0-or-later
/* tasks.c - see tasks.h */
#include "frontend/export/tasks.h"

#include <stdlib.h>

enum { SLOTS = 2 * TASKS_MAX };

/* Small for small pids: it is part of what names a track in each event of it. */
static uint64_t key_of(size_t buffer, int32_t pid, unsigned int cpu)
{
	uint64_t low = pid ? (uint64_t)(uint32_t)pid << 1 : (uint64_t)cpu << 1 | 1;

	return (uint64_t)buffer << 33 | low;
}

static struct task **slot_of(const struct tasks *t, uint64_t key)
{
	uint32_t i = (uint32_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 40) % SLOTS;

	while (t->slot[i] && t->slot[i]->key != key)
		i = (i + 1) % SLOTS;
	return &t->slot[i];
}

bool tasks_init(struct tasks *t)
{
	*t = (struct tasks){.slot = calloc(SLOTS, sizeof(struct task *))};
	return t->slot;
}

static void task_free(struct tasks *t, struct task *task)
{
	t->frames -= task->room;
	t->nr--;
	free(task->frame);
	free(task);
}

void tasks_exit(struct tasks *t)
{
	for (size_t i = 0; t->slot && i < SLOTS; i++)
		if (t->slot[i])
			task_free(t, t->slot[i]);
	free(t->slot);
}

bool tasks_full(const struct tasks *t)
{
	return t->nr >= TASKS_MAX || t->frames >= FRAMES_MAX;
}

struct task *tasks_find(const struct tasks *t, size_t buffer, int32_t pid, unsigned int cpu)
{
	return *slot_of(t, key_of(buffer, pid, cpu));
}

static struct track track_of(const struct task *task, enum track_kind kind)
{
	return (struct track){
		.kind = kind, .id = task->key * 8 + kind, .task = task, .tgid = task->tgid};
}

struct task *tasks_add(struct tasks *t, size_t buffer, int32_t pid, unsigned int cpu)
{
	struct task *task = calloc(1, sizeof(*task));

	if (!task)
		return NULL;
	*task = (struct task){
		.key = key_of(buffer, pid, cpu),
		.buffer = buffer,
		.pid = pid,
		.tgid = pid,
		.ppid = -1,
		.cpu = cpu,
	};
	task->calls = track_of(task, TRACK_CALLS);
	task->markers = track_of(task, TRACK_MARKERS);
	task->wakeup = track_of(task, TRACK_WAKEUP);
	*slot_of(t, task->key) = task;
	t->nr++;
	return task;
}

bool tasks_push(struct tasks *t, struct task *task, const struct frame *frame)
{
	if (task->nr == task->room) {
		uint32_t room = task->room ? 2 * task->room : 16;
		struct frame *more = realloc(task->frame, room * sizeof(*more));

		if (!more)
			return false;
		t->frames += room - task->room;
		task->frame = more;
		task->room = room;
	}
	task->frame[task->nr++] = *frame;
	return true;
}

static bool is_open(const struct task *task)
{
	return task->nr || task->markers.open || task->wakeup.open;
}

bool tasks_sweep(struct tasks *t)
{
	struct task **old = t->slot, **slot = calloc(SLOTS, sizeof(*slot));

	if (!slot)
		return false;
	t->slot = slot;
	for (size_t i = 0; i < SLOTS; i++) {
		if (!old[i])
			continue;
		if (is_open(old[i]))
			*slot_of(t, old[i]->key) = old[i];
		else
			task_free(t, old[i]);
	}
	free(old);
	return true;
}
