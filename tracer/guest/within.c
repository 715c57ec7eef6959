// SPDX-License-Identifier: GPL-2.0-or-later
/* within.c - looks for addresses of some functions on all kernel stacks. */
#include "tracer/guest/within.h"
#include "tracer/guest/tasks.h"

#include <errno.h>
#include <stdlib.h>

#define STACK_MAX    (64u << 10)
#define TASK_RUNNING 0 /* include/linux/sched.h: it runs, or would if there were a CPU for it */

struct search {
	struct guest_kernel *g;
	struct task_layout at;
	uint64_t state; /* offset in struct task_struct */
	const struct text_range *range;
	size_t n;
	uint64_t running[MACHINE_MAX_VCPUS]; /* current task of each vCPU; 0: none */
	unsigned int vcpus;
	uint64_t *words; /* of a stack; stack_size bytes */
	bool found;
};

static bool in_range(const struct search *s, uint64_t va)
{
	for (size_t i = 0; i < s->n; i++)
		if (va - s->range[i].va < s->range[i].size)
			return true;
	return false;
}

/* From its stack pointer on; all of it when the pointer is elsewhere, on an interrupt's stack. */
static void search_stack(struct search *s, uint64_t stack, uint64_t sp)
{
	uint64_t top = stack + s->at.stack_size;
	size_t nr;

	sp &= ~UINT64_C(7);
	if (sp < stack || sp >= top)
		sp = stack;
	nr = (size_t)(top - sp) / sizeof(*s->words);
	/* What cannot be read is no stack of anybody's: the task has just gone. */
	if (guest_read(s->g, sp, s->words, nr * sizeof(*s->words)))
		return;
	for (size_t i = 0; i < nr && !s->found; i++)
		s->found = in_range(s, s->words[i]);
}

static uint32_t task_u32(const struct search *s, uint64_t task, uint64_t offset, uint32_t otherwise)
{
	uint32_t value;

	return guest_read(s->g, task + offset, &value, sizeof(value)) ? otherwise : value;
}

static int search_vcpu(struct search *s, unsigned int vcpu)
{
	struct machine_sregs sregs;
	struct machine_regs regs;
	struct task task;
	int ret = machine_get_regs(s->g->m, vcpu, &regs);

	s->running[vcpu] = 0;
	if (ret == -ENODEV)
		return 0; /* it was unplugged */
	if (!ret)
		ret = machine_get_sregs(s->g->m, vcpu, &sregs);
	if (ret)
		return ret;
	s->running[vcpu] = guest_current(s->g, vcpu);
	/* In user mode its kernel stack is empty; and there is no end to what idling leaves on one.
	 */
	if (sregs.cpl == 3 || !task_u32(s, s->running[vcpu], s->at.pid, 0))
		return 0;
	if (in_range(s, regs.rip))
		s->found = true;
	else if (!task_read(s->g, &s->at, s->running[vcpu], &task))
		search_stack(s, task.stack, regs.rsp);
	return 0;
}

static bool search_task(void *arg, const struct task *task)
{
	struct search *s = arg;

	for (unsigned int i = 0; i < s->vcpus; i++)
		if (s->running[i] == task->addr)
			return true;
	if (task_u32(s, task->addr, s->state, TASK_RUNNING) == TASK_RUNNING)
		search_stack(s, task->stack, task->sp);
	return !s->found;
}

int tasks_within(struct guest_kernel *g, const struct guestsym *gs, const struct text_range *range,
		 size_t n, bool *within)
{
	struct search s = {.g = g, .range = range, .n = n};
	struct guestsym_field state;
	int ret = task_layout_learn(&s.at, gs, g);

	if (ret)
		return ret;
	/* Before 5.14 it has no underscores. */
	if (s.at.stack_size > STACK_MAX || (guestsym_field(gs, "task_struct.__state", &state) &&
					    guestsym_field(gs, "task_struct.state", &state)))
		return -ENODATA;
	s.state = state.offset;
	ret = machine_look_at_vcpus(g->m);
	if (ret < 0)
		return ret;
	s.vcpus = (unsigned int)ret;
	ret = 0;
	s.words = malloc(s.at.stack_size);
	if (!s.words)
		return -ENOMEM;
	for (unsigned int i = 0; i < s.vcpus && !ret && !s.found; i++)
		ret = search_vcpu(&s, i);
	if (!ret && !s.found)
		ret = tasks_each(g, &s.at, search_task, &s);
	*within = s.found;
	free(s.words);
	return ret;
}
