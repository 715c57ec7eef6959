// SPDX-License-Identifier: GPL-2.0-or-later
/* wait.c - readers that wait for events. */
#include "tracer/core/internal.h"
#include "tracer/core/lock.h"
#include "tracer/lib/host-time.h"

#include <errno.h>
#include <stdlib.h>

struct trace_wait {
	pthread_mutex_t lock;
	pthread_cond_t change;
	atomic_uint waiting;
};

struct trace_wait *wait_new(void)
{
	struct trace_wait *w = calloc(1, sizeof(*w));
	pthread_condattr_t clock;

	if (!w)
		return NULL;
	pthread_mutex_init(&w->lock, NULL);
	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_cond_init(&w->change, &clock);
	pthread_condattr_destroy(&clock);
	return w;
}

void wait_free(struct trace_wait *w)
{
	if (!w)
		return;
	pthread_cond_destroy(&w->change);
	pthread_mutex_destroy(&w->lock);
	free(w);
}

void trace_wake(struct trace *t)
{
	struct trace_wait *w = t->wait;

	if (!atomic_load(&w->waiting))
		return;
	lock_take(&w->lock, LOCK_WAIT, 0);
	pthread_cond_broadcast(&w->change);
	lock_give(&w->lock, LOCK_WAIT);
}

bool trace_wait(struct trace *t, bool (*there)(void *arg), void *arg, int timeout_ms)
{
	struct timespec at = host_deadline(timeout_ms * NS_PER_MS);
	struct trace_wait *w = t->wait;
	bool is;

	lock_take(&w->lock, LOCK_WAIT, 0);
	atomic_fetch_add(&w->waiting, 1);
	is = there(arg);
	while (!is && pthread_cond_timedwait(&w->change, &w->lock, &at) != ETIMEDOUT)
		is = there(arg);
	atomic_fetch_sub(&w->waiting, 1);
	lock_give(&w->lock, LOCK_WAIT);
	return is || there(arg);
}
