// SPDX-License-Identifier: GPL-2.0-or-later
/* core.c - the parts of a trace that everybody stands on, from beginning to end. */
#include "tracer/core/internal.h"
#include "tracer/lib/message-limit.h"

#include <errno.h>

static void change_init(pthread_mutex_t *change)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(change, &attr);
	pthread_mutexattr_destroy(&attr);
}

int trace_core_init(struct trace *t)
{
	change_init(&t->change);
	pthread_mutex_init(&t->instances_lock, NULL);
	for (unsigned int i = 0; i < t->vcpus; i++)
		pthread_mutex_init(&t->vcpu_lock[i], NULL);
	t->seen = seen_new();
	t->stacks = stacks_new();
	t->wait = wait_new();
	t->notes = message_limit_new();
	return t->seen && t->stacks && t->wait && t->notes ? 0 : -ENOMEM;
}

void trace_core_exit(struct trace *t)
{
	message_limit_free(t->notes);
	wait_free(t->wait);
	stacks_free(t->stacks);
	seen_free(t->seen);
	for (unsigned int i = 0; i < t->vcpus; i++)
		pthread_mutex_destroy(&t->vcpu_lock[i]);
	pthread_mutex_destroy(&t->instances_lock);
	pthread_mutex_destroy(&t->change);
}
