// SPDX-License-Identifier: GPL-2.0-or-later
/* errand.c - see errand.h */
#include "vmm/core/errand.h"
#include "vmm/thread.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#define SLICE_MS 20 /* until it is seen that it is given up */

void *errand_new(size_t size, const struct errand_ops *ops)
{
	struct errand *e = calloc(1, size);
	pthread_condattr_t attr;

	if (!e)
		return NULL;
	e->ops = ops;
	e->refs = 1;
	pthread_mutex_init(&e->lock, NULL); /* neither fails with glibc */
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&e->over, &attr);
	pthread_condattr_destroy(&attr);
	return e;
}

void errand_put(struct errand *e)
{
	if (atomic_fetch_sub(&e->refs, 1) != 1)
		return;
	if (e->ops->release)
		e->ops->release(e);
	pthread_cond_destroy(&e->over);
	pthread_mutex_destroy(&e->lock);
	free(e);
}

static void *errand_thread(void *arg)
{
	struct errand *e = arg;

	e->ops->run(e);
	pthread_mutex_lock(&e->lock);
	e->done = true;
	pthread_cond_signal(&e->over);
	pthread_mutex_unlock(&e->lock);
	errand_put(e);
	return NULL;
}

/* Of the process, as the code is that they are in. */
static atomic_bool any_left;

bool errand_any_left(void)
{
	return atomic_load(&any_left);
}

static int start(struct errand *e, pthread_t *thread)
{
	int rc;

	atomic_fetch_add(&e->refs, 1);
	rc = thread_start(thread, e->ops->kind, NULL, errand_thread, e);
	if (rc)
		atomic_fetch_sub(&e->refs, 1);
	return rc;
}

/* What libraries do at the end of a thread is done, too. */
static void leave(pthread_t thread, bool given_up)
{
	if (!given_up) {
		pthread_join(thread, NULL);
		return;
	}
	atomic_store(&any_left, true);
	pthread_detach(thread);
}

static struct timespec in_ms(int64_t ms)
{
	struct timespec at;

	clock_gettime(CLOCK_MONOTONIC, &at);
	at.tv_sec += ms / 1000;
	at.tv_nsec += ms % 1000 * 1000000;
	if (at.tv_nsec >= 1000000000) {
		at.tv_nsec -= 1000000000;
		at.tv_sec++;
	}
	return at;
}

static bool is_before(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec < b->tv_sec || (a->tv_sec == b->tv_sec && a->tv_nsec < b->tv_nsec);
}

int errand_run(struct errand *e, const struct errand_patience *patience)
{
	struct timespec end = in_ms(patience->ms), slice;
	pthread_t thread;
	int rc = start(e, &thread);

	if (rc)
		return rc;
	pthread_mutex_lock(&e->lock);
	while (!e->done && !rc) {
		slice = in_ms(SLICE_MS);
		if (!is_before(&slice, &end))
			slice = end;
		if (patience->cancelled && patience->cancelled(patience->arg))
			rc = -ECANCELED;
		else if (pthread_cond_timedwait(&e->over, &e->lock, &slice) && !e->done &&
			 !is_before(&slice, &end))
			rc = -ETIMEDOUT;
	}
	pthread_mutex_unlock(&e->lock);
	leave(thread, rc);
	return rc;
}
