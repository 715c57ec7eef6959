// SPDX-License-Identifier: GPL-2.0-or-later
/* stacks.c - the tables from which kernel stacks are told. */
#include "tracer/core/trace.h"
#include "tracer/guest/modules.h"
#include "tracer/unwind/unwind.h"

const struct unwind *trace_unwind(const struct trace *t)
{
	return atomic_load(&t->unwind_ready) ? t->unwind : NULL;
}

/* Without memory, traces end where a module's code is. */
void trace_unwind_modules(struct trace *t)
{
	const struct guestsym_module *mods;
	size_t n = modules_all(t->modules, &mods);

	if (!n)
		return;
	trace_writers_stop(t);
	unwind_modules(t->unwind, t->gs, &t->guest, mods, n);
	trace_writers_go(t);
}

void trace_use_stacks(struct trace *t)
{
	char err[256];

	if (atomic_load(&t->unwind_ready))
		return;
	machine_pause(t->m);
	pthread_mutex_lock(&t->instances_lock);
	if (!atomic_load(&t->unwind_ready)) {
		t->unwind = unwind_new(t->gs, err, sizeof(err));
		if (t->unwind)
			trace_unwind_modules(t);
		else
			trace_note(t, "stack traces show one function only: %s", err);
		atomic_store(&t->unwind_ready, true);
	}
	pthread_mutex_unlock(&t->instances_lock);
	machine_resume(t->m);
}
