// SPDX-License-Identifier: GPL-2.0-or-later
/* stacks.c - the tables from which kernel stacks are told; stacks of user modes. */
#include "tracer/core/internal.h"
#include "tracer/core/lock.h"
#include "tracer/guest/modules.h"
#include "tracer/guest/user.h"
#include "tracer/unwind/unwind.h"

#include <stdlib.h>
#include <string.h>

struct trace_stacks {
	struct unwind *unwind; /* once one was asked for; NULL: there is none to be had */
	atomic_bool ready;     /* it is as it will be */
};

struct trace_stacks *stacks_new(void)
{
	return calloc(1, sizeof(struct trace_stacks));
}

void stacks_free(struct trace_stacks *s)
{
	if (s)
		unwind_free(s->unwind);
	free(s);
}

const struct unwind *trace_unwind(const struct trace *t)
{
	return atomic_load(&t->stacks->ready) ? t->stacks->unwind : NULL;
}

/* Without memory, traces end where a module's code is. */
void trace_unwind_modules(struct trace *t)
{
	const struct guestsym_module *mods;
	size_t n = modules_all(t->modules, &mods);

	if (!n)
		return;
	trace_writers_stop(t);
	unwind_modules(t->stacks->unwind, t->gs, &t->guest, mods, n);
	trace_writers_go(t);
}

void trace_use_stacks(struct trace *t)
{
	char err[256];

	if (atomic_load(&t->stacks->ready))
		return;
	machine_pause_for(t->m, "preparing the reading of stacks");
	change_lock(t); /* modules stay as they are */
	instances_lock(t);
	if (!atomic_load(&t->stacks->ready)) {
		t->stacks->unwind = unwind_new(t->gs, err, sizeof(err));
		if (t->stacks->unwind)
			trace_unwind_modules(t);
		else
			trace_note(t, "stack traces show one function only: %s", err);
		atomic_store(&t->stacks->ready, true);
	}
	instances_unlock(t);
	change_unlock(t);
	machine_resume(t->m);
}

void trace_user_stack(struct trace *t, unsigned int vcpu, uint32_t *tgid, uint64_t *ips,
		      unsigned int max)
{
	struct guest_kernel *g = &t->guest;
	uint64_t task = guest_current(g, vcpu);
	struct task_layout tasks;

	memset(ips, 0, max * sizeof(*ips));
	if (g->at.task_tgid == GUEST_NONE ||
	    guest_read(g, task + g->at.task_tgid, tgid, sizeof(*tgid)))
		*tgid = 0;
	if (!task_layout_learn(&tasks, t->gs, g))
		user_stack(g, &t->user, &tasks, task, ips, max);
}
