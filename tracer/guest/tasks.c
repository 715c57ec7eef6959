// SPDX-License-Identifier: GPL-2.0-or-later
/* tasks.c - walks the kernel's list of processes, and of the threads of each. */
#include "tracer/guest/tasks.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

/* PID_MAX_LIMIT (include/linux/threads.h): a longer list is no list. */
#define MAX_TASKS (4u << 20)
/* A task that comes or goes is on the list a moment before or after it is counted. */
#define SLACK_TASKS	   64
#define SMALLEST_TASK	   1024	       /* of struct task_struct, where types do not tell */
#define FREE_MS		   2000	       /* where nothing limits how long the guest stands */
#define DEFAULT_STACK_SIZE (16u << 10) /* THREAD_SIZE without KASAN */

int task_layout_learn(struct task_layout *at, const struct guestsym *gs,
		      const struct guest_kernel *g)
{
	const struct {
		const char *path;
		uint64_t *to;
	} fields[] = {
		{"task_struct.tasks", &at->tasks},
		{"task_struct.signal", &at->signal},
		{"task_struct.thread_node", &at->thread_node},
		{"task_struct.stack", &at->stack},
		{"task_struct.thread.sp", &at->sp},
		{"task_struct.pid", &at->pid},
		{"signal_struct.thread_head", &at->thread_head},
	};
	uint64_t begin = guestsym_addr(gs, "__start_init_task");
	uint64_t end = guestsym_addr(gs, "__end_init_task");

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		struct guestsym_field f;

		if (guestsym_field(gs, fields[i].path, &f))
			return -ENODATA;
		*fields[i].to = f.offset;
	}
	at->init_task = guestsym_addr(gs, "init_task");
	if (!at->init_task)
		return -ENODATA;
	at->init_task += g->slide;
	at->nr_threads = guestsym_addr(gs, "nr_threads");
	if (at->nr_threads)
		at->nr_threads += g->slide;
	if (guestsym_type_size(gs, "task_struct", &at->task_size) || at->task_size < SMALLEST_TASK)
		at->task_size = SMALLEST_TASK;
	at->stack_size = begin && end > begin ? end - begin : DEFAULT_STACK_SIZE;
	return 0;
}

static int read_u64(struct guest_kernel *g, uint64_t va, uint64_t *value)
{
	return guest_read(g, va, value, sizeof(*value));
}

int task_read(struct guest_kernel *g, const struct task_layout *at, uint64_t addr,
	      struct task *task)
{
	task->addr = addr;
	if (read_u64(g, addr + at->stack, &task->stack) || read_u64(g, addr + at->sp, &task->sp))
		return -EFAULT;
	return 0;
}

/*
 * The way along a list, which may get into a ring without its head: then a node that was marked,
 * farther on each time, comes again soon. (Brent's algorithm.)
 */
struct way {
	uint64_t mark;
	unsigned int steps, next;
};

static bool goes_round(struct way *w, uint64_t node)
{
	if (node == w->mark)
		return true;
	if (w->steps++ == w->next) {
		w->mark = node;
		w->next = 2 * w->next + 1;
		w->steps = 0;
	}
	return false;
}

/* How many there can be: as the kernel counts them, which may be a lie, too. */
static uint32_t tasks_max(struct guest_kernel *g, const struct task_layout *at)
{
	struct machine_info info;
	uint32_t max = MAX_TASKS, count;

	machine_get_info(g->m, &info);
	if (info.memory && info.memory / at->task_size < max)
		max = (uint32_t)(info.memory / at->task_size);
	if (at->nr_threads && !guest_read(g, at->nr_threads, &count, sizeof(count)) &&
	    (uint64_t)count + SLACK_TASKS < max)
		max = count + SLACK_TASKS;
	return max;
}

/* What is left of the time is for what is done about them. */
static int64_t time_ms(struct guest_kernel *g)
{
	struct machine_pauses pauses;
	uint64_t limit_ms;

	machine_get_pauses(g->m, &pauses);
	limit_ms = pauses.limit_ns ? pauses.limit_ns / 1000000 : FREE_MS;
	return (int64_t)(limit_ms - limit_ms / 4);
}

struct walk {
	struct guest_kernel *g;
	const struct task_layout *at;
	bool (*fn)(void *arg, const struct task *task);
	void *arg;
	uint32_t processes, threads; /* that may still come */
	int64_t end_ms;		     /* as of g->now_ms() */
	bool enough;
};

/* One more of *left; the clock takes less than what is read of each. */
static int step(const struct walk *w, struct way *way, uint64_t node, uint32_t *left)
{
	if (!(*left)--)
		return -E2BIG;
	if (goes_round(way, node))
		return -ELOOP;
	return w->g->now_ms() > w->end_ms ? -ETIME : 0;
}

/* The threads of a process hang on its struct signal_struct, the leader among them. */
static int walk_threads(struct walk *w, uint64_t leader)
{
	uint64_t head, node;
	struct way way = {0};
	int ret = 0;

	if (read_u64(w->g, leader + w->at->signal, &head))
		return -EFAULT;
	head += w->at->thread_head;
	if (read_u64(w->g, head, &node))
		return -EFAULT;
	while (node != head && !w->enough) {
		struct task task;

		ret = step(w, &way, node, &w->threads);
		if (ret)
			return ret;
		if (task_read(w->g, w->at, node - w->at->thread_node, &task))
			return -EFAULT;
		w->enough = !w->fn(w->arg, &task);
		if (read_u64(w->g, node, &node))
			return -EFAULT;
	}
	return 0;
}

int tasks_each(struct guest_kernel *g, const struct task_layout *at,
	       bool (*fn)(void *arg, const struct task *task), void *arg)
{
	uint32_t max = tasks_max(g, at);
	struct walk w = {.g = g,
			 .at = at,
			 .fn = fn,
			 .arg = arg,
			 .processes = max,
			 .threads = max,
			 .end_ms = g->now_ms() + time_ms(g)};
	uint64_t head = at->init_task + at->tasks, node;
	int ret = read_u64(g, head, &node);
	struct way way = {0};

	while (!ret && node != head && !w.enough) {
		ret = step(&w, &way, node, &w.processes);
		if (!ret)
			ret = walk_threads(&w, node - at->tasks);
		if (!ret)
			ret = read_u64(g, node, &node);
	}
	return ret;
}

const char *tasks_strerror(int error)
{
	switch (error) {
	case -ELOOP:
		return "its list of tasks does not end";
	case -E2BIG:
		return "its list of tasks is longer than it has tasks";
	case -ESRCH:
		return "it has ended";
	case -ETIME:
		return "it would stand for too long while its tasks are looked at "
		       "(--max-standstill)";
	default:
		return strerror(-error);
	}
}
