// SPDX-License-Identifier: GPL-2.0-or-later
/* see-off.c - readers that wait for more come to the end of their files when the mount is to go. */
#include <errno.h>
#include <pthread.h>
#include <time.h>

#include "frontend/mount/requests.h"

/* How long readers have to come to the end, and then to close. */
#define SEE_OFF_MS 300

/* Whoever sets the host's time does not keep a guest traced by that. */
void see_off_init(struct server *s)
{
	pthread_condattr_t clock;

	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_cond_init(&s->closed, &clock);
	pthread_condattr_destroy(&clock);
}

void server_count_waiter(struct server *s, const struct open_file *file, int more)
{
	if (!view_can_wait(file))
		return;
	pthread_mutex_lock(&s->lock);
	s->waiters += (unsigned int)more;
	if (!s->waiters)
		pthread_cond_signal(&s->closed);
	pthread_mutex_unlock(&s->lock);
}

static void wait_for_waiters(struct server *s, long ms)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += ms * 1000000;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	pthread_mutex_lock(&s->lock);
	while (s->waiters && pthread_cond_timedwait(&s->closed, &s->lock, &until) != ETIMEDOUT)
		;
	pthread_mutex_unlock(&s->lock);
}

/* A busy guest may have more for them for as long as they read. */
void server_see_off(struct server *s)
{
	atomic_store(&s->ending, true);
	wait_for_waiters(s, SEE_OFF_MS);
	atomic_store(&s->over, true);
	wait_for_waiters(s, SEE_OFF_MS);
}
