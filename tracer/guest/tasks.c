// SPDX-License-Identifier: GPL-2.0-or-later
/* tasks.c - walks the kernel's list of processes, and of the threads of each. */
#include "tracer/guest/tasks.h"

#include <errno.h>
#include <stddef.h>

/* PID_MAX_LIMIT (include/linux/threads.h): a longer list is no list. */
#define MAX_TASKS	   (4u << 20)
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

struct walk {
	struct guest_kernel *g;
	const struct task_layout *at;
	bool (*fn)(void *arg, const struct task *task);
	void *arg;
	unsigned int left;
	bool enough;
};

/* The threads of a process hang on its struct signal_struct, the leader among them. */
static int walk_threads(struct walk *w, uint64_t leader)
{
	uint64_t head, node;
	struct way way = {0};

	if (read_u64(w->g, leader + w->at->signal, &head))
		return -EFAULT;
	head += w->at->thread_head;
	if (read_u64(w->g, head, &node))
		return -EFAULT;
	while (node != head && !w->enough) {
		struct task task;

		if (!w->left-- || goes_round(&way, node))
			return -ELOOP;
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
	struct walk w = {.g = g, .at = at, .fn = fn, .arg = arg, .left = MAX_TASKS};
	uint64_t head = at->init_task + at->tasks, node;
	int ret = read_u64(g, head, &node);
	struct way way = {0};

	while (!ret && node != head && !w.enough) {
		if (!w.left-- || goes_round(&way, node))
			return -ELOOP;
		ret = walk_threads(&w, node - at->tasks);
		if (!ret)
			ret = read_u64(g, node, &node);
	}
	return ret;
}
