// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * watchdog.c - lets a guest go that stands for too long, whatever holds it.
 *
 * The thread need not be told of each stop. Between two looks as far apart as the limit none can
 * begin and be too long; the one under way at a look is looked at again when its time is over.
 */
#include "vmm/core/backend.h"
#include "vmm/core/stand.h"
#include "vmm/thread.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <time.h>

/* Who held the guest has this long to come to its senses before the owner is told. */
#define STUCK_MS 5000

static int64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static void wait_until_locked(struct stand *s, int64_t ns)
{
	const struct timespec at = {.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};

	pthread_cond_timedwait(&s->change, &s->lock, &at);
}

/* Called with the lock held. False: nobody is to watch any more. */
static bool wait_for_excess_locked(struct stand *s)
{
	while (!s->stop) {
		int64_t now = now_ns(), limit = (int64_t)s->sum.limit_ns;

		if (s->depth && now - s->since >= limit)
			return true;
		wait_until_locked(s, (s->depth ? s->since : now) + limit);
	}
	return false;
}

void stand_is_stuck(struct machine *m)
{
	const struct stand *s = &m->stand;

	if (s->limits.stuck)
		s->limits.stuck(s->arg);
}

/* Who holds the guest does not notice that it has gone, so nobody else will end this process. */
static void wait_for_owner_locked(struct machine *m)
{
	struct stand *s = &m->stand;
	int64_t end = now_ns() + (int64_t)STUCK_MS * 1000000;

	while (!s->stop && s->depth && now_ns() < end)
		wait_until_locked(s, end);
	if (!s->stop && s->depth) {
		pthread_mutex_unlock(&s->lock);
		stand_is_stuck(m);
		pthread_mutex_lock(&s->lock);
	}
}

static void *watch_thread(void *arg)
{
	struct machine *m = arg;
	struct stand *s = &m->stand;
	const char *what;
	uint64_t ms;

	pthread_mutex_lock(&s->lock);
	if (!wait_for_excess_locked(s)) {
		pthread_mutex_unlock(&s->lock);
		return NULL;
	}
	what = s->last ? s->last : "stopping it";
	s->sum.exceeded = true;
	s->sum.longest_what = what;
	ms = s->sum.limit_ns / 1000000;
	pthread_mutex_unlock(&s->lock);
	machine_let_go(m,
		       "the guest stood for more than %" PRIu64
		       " ms (--max-standstill) while hvtrace was %s, so it was let go",
		       ms, what);
	pthread_mutex_lock(&s->lock);
	wait_for_owner_locked(m);
	pthread_mutex_unlock(&s->lock);
	return NULL;
}

int stand_watch(struct machine *m, const struct machine_limits *limits, unsigned int default_ms,
		void *arg)
{
	struct stand *s = &m->stand;
	int rc;

	s->limits = *limits;
	s->arg = arg;
	s->sum.limit_ns = (limits->stand_ms ? limits->stand_ms : default_ms) * 1000000;
	rc = thread_start(&s->thread, "watchdog", NULL, watch_thread, m);
	s->watched = !rc;
	return rc;
}

void stand_set_default(struct machine *m, unsigned int default_ms)
{
	struct stand *s = &m->stand;

	if (s->limits.stand_ms)
		return;
	pthread_mutex_lock(&s->lock);
	s->sum.limit_ns = (uint64_t)default_ms * 1000000;
	pthread_cond_signal(&s->change);
	pthread_mutex_unlock(&s->lock);
}

void stand_unwatch(struct machine *m)
{
	struct stand *s = &m->stand;

	if (!s->watched)
		return;
	pthread_mutex_lock(&s->lock);
	s->stop = true;
	pthread_cond_signal(&s->change);
	pthread_mutex_unlock(&s->lock);
	pthread_join(s->thread, NULL);
	s->watched = false;
}
