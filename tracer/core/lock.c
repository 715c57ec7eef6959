// SPDX-License-Identifier: GPL-2.0-or-later
/* lock.c - the locks that stop all writers, or the guest. */
#include "tracer/core/trace.h"

void trace_writers_stop(struct trace *t)
{
	for (unsigned int i = 0; i < t->vcpus; i++)
		pthread_mutex_lock(&t->vcpu_lock[i]);
}

void trace_writers_go(struct trace *t)
{
	for (unsigned int i = t->vcpus; i--;)
		pthread_mutex_unlock(&t->vcpu_lock[i]);
}

void trace_change_begin(struct trace *t)
{
	if (t->m)
		machine_pause(t->m);
	pthread_mutex_lock(&t->change);
}

void trace_change_end(struct trace *t)
{
	pthread_mutex_unlock(&t->change);
	if (t->m)
		machine_resume(t->m);
}
