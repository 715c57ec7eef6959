// SPDX-License-Identifier: GPL-2.0-or-later
/* deferred.c - what a record sets off that cannot be done while its vCPU's lock is held. */
#include "tracer/core/lock.h"
#include "tracer/instance/files.h"
#include "tracer/instance/max.h"
#include "tracer/record/record.h"

static void do_deferred(struct instance *i)
{
	unsigned int what = atomic_exchange(&i->deferred, 0);

	if (what & DEFERRED_SNAPSHOT)
		instance_snapshot(i, ALL_VCPUS);
	if (what & DEFERRED_ON_OFF)
		record_turned(i);
}

void record_do_deferred(struct trace *t)
{
	/* The collector asks after each pass; mostly there is nothing. */
	if (!atomic_load_explicit(&t->deferred, memory_order_relaxed) ||
	    !atomic_exchange(&t->deferred, false))
		return;
	change_lock(t); /* none goes meanwhile */
	for (struct instance *i = t->instances; i; i = i->next) {
		do_deferred(i);
		if (i->tracer->max)
			instance_complete_max(i);
	}
	change_unlock(t);
}
