// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * wait.c - one thread that looks after all that files have yet to have something for.
 *
 * They are looked at one after the other, in turns. When there was nothing for any of them, the
 * next turn begins with one of them that is waited for, for a tick: a single one is woken at once.
 */
#include "frontend/mount/wait.h"
#include "vmm/thread.h"

#include <stddef.h>

void waiting_init(struct waiting *wt)
{
	*wt = (struct waiting){0};
	pthread_mutex_init(&wt->lock, NULL);
	pthread_cond_init(&wt->changed, NULL);
}

/* --- the list, whose lock is held ----------------------------------------------------------- */

static void append(struct waiting *wt, struct waiter *w)
{
	w->queued = true;
	w->next = NULL;
	w->prev = wt->last;
	if (w->prev)
		w->prev->next = w;
	else
		wt->first = w;
	wt->last = w;
	wt->nr++;
}

static void take_out(struct waiting *wt, struct waiter *w)
{
	w->queued = false;
	if (w->prev)
		w->prev->next = w->next;
	else
		wt->first = w->next;
	if (w->next)
		w->next->prev = w->prev;
	else
		wt->last = w->prev;
	wt->nr--;
}

/* The lock is given up meanwhile. True: it has been seen to. */
static bool look_at_first(struct waiting *wt, int timeout_ms)
{
	struct waiter *w = wt->first;
	bool done;

	take_out(wt, w);
	wt->busy = w;
	wt->again = false;
	pthread_mutex_unlock(&wt->lock);
	done = w->look(w, timeout_ms);
	pthread_mutex_lock(&wt->lock);
	wt->busy = NULL;
	/* Of who has been seen to without having been added again nothing may be left. */
	if ((!done || wt->again) && !w->leaving)
		append(wt, w);
	pthread_cond_broadcast(&wt->changed);
	return done;
}

/* As many as there are now, one after the other. False: there was nothing for any of them. */
static bool look_at_all(struct waiting *wt)
{
	bool some = false;

	for (size_t n = wt->nr; n && wt->first; n--)
		some |= look_at_first(wt, 0);
	return some;
}

static void *look_after(void *arg)
{
	struct waiting *wt = arg;

	pthread_mutex_lock(&wt->lock);
	while (!wt->end) {
		if (!wt->first)
			pthread_cond_wait(&wt->changed, &wt->lock);
		else if (!look_at_all(wt) && wt->first && !wt->end)
			look_at_first(wt, WAIT_TICK_MS);
	}
	look_at_all(wt);
	pthread_mutex_unlock(&wt->lock);
	return NULL;
}

/* --- who waits ------------------------------------------------------------------------------ */

static int start(struct waiting *wt)
{
	int rc;

	if (wt->running)
		return 0;
	rc = thread_start(&wt->thread, "files-wait", NULL, look_after, wt);
	wt->running = !rc;
	return rc;
}

int waiting_add(struct waiting *wt, struct waiter *w)
{
	int rc;

	pthread_mutex_lock(&wt->lock);
	rc = start(wt);
	if (!rc) {
		if (wt->busy == w)
			wt->again = true;
		else if (!w->queued)
			append(wt, w);
		pthread_cond_broadcast(&wt->changed);
	}
	pthread_mutex_unlock(&wt->lock);
	return rc;
}

void waiting_remove(struct waiting *wt, struct waiter *w)
{
	pthread_mutex_lock(&wt->lock);
	w->leaving = true; /* it is not looked at again: to wait for that might be for ever */
	while (wt->busy == w)
		pthread_cond_wait(&wt->changed, &wt->lock);
	if (w->queued)
		take_out(wt, w);
	pthread_mutex_unlock(&wt->lock);
}

void waiting_stop(struct waiting *wt)
{
	pthread_mutex_lock(&wt->lock);
	wt->end = true;
	pthread_cond_broadcast(&wt->changed);
	pthread_mutex_unlock(&wt->lock);
	if (wt->running)
		pthread_join(wt->thread, NULL);
	wt->running = false;
}

void waiting_exit(struct waiting *wt)
{
	pthread_cond_destroy(&wt->changed);
	pthread_mutex_destroy(&wt->lock);
}
