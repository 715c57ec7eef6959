// SPDX-License-Identifier: GPL-2.0-or-later
/* wait.c - readers that wait for events. */
#include "tracer/core/trace.h"
#include "tracer/lib/host-time.h"

#include <errno.h>

void trace_wake(struct trace *t)
{
	if (!atomic_load(&t->waiting))
		return;
	pthread_mutex_lock(&t->wait_lock);
	pthread_cond_broadcast(&t->wait_change);
	pthread_mutex_unlock(&t->wait_lock);
}

bool trace_wait(struct trace *t, bool (*there)(void *arg), void *arg, int timeout_ms)
{
	struct timespec at = host_deadline(timeout_ms * NS_PER_MS);
	bool is;

	pthread_mutex_lock(&t->wait_lock);
	atomic_fetch_add(&t->waiting, 1);
	is = there(arg);
	while (!is && pthread_cond_timedwait(&t->wait_change, &t->wait_lock, &at) != ETIMEDOUT)
		is = there(arg);
	atomic_fetch_sub(&t->waiting, 1);
	pthread_mutex_unlock(&t->wait_lock);
	return is || there(arg);
}
