// SPDX-License-Identifier: GPL-2.0-or-later
/* lock.c - the locks that stop all writers, or the guest. */
#include "tracer/core/lock.h"
#include "tracer/core/trace.h"

void trace_writers_stop(struct trace *t)
{
	for (unsigned int i = 0; i < t->vcpus; i++)
		vcpu_lock(t, i);
}

void trace_writers_go(struct trace *t)
{
	for (unsigned int i = t->vcpus; i--;)
		vcpu_unlock(t, i);
}

void trace_change_begin(struct trace *t)
{
	if (t->m)
		machine_pause_for(t->m, "changing what is traced");
	change_lock(t);
}

void trace_change_end(struct trace *t)
{
	change_unlock(t);
	if (t->m)
		machine_resume(t->m);
}
