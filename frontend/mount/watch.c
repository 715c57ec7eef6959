// SPDX-License-Identifier: GPL-2.0-or-later
/* watch.c - a thread for each open file that is polled, from the first poll on. */
#include "frontend/mount/watch.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>

#include "frontend/mount/fuse.h"
#include "frontend/tracefs/view.h"

/* How soon it is noticed that the file is closed. */
#define TICK_MS 20

struct watch {
	struct open_file *file;
	pthread_t thread;
	pthread_mutex_t lock; /* of what follows */
	pthread_cond_t changed;
	struct fuse_pollhandle *ph; /* NULL: nobody polls */
	bool end;
};

static void notify(struct fuse_pollhandle *ph)
{
	fuse_lowlevel_notify_poll(ph);
	fuse_pollhandle_destroy(ph);
}

/* Wait until somebody polls. False: the end. */
static bool wait_for_poll(struct watch *w)
{
	bool end;

	pthread_mutex_lock(&w->lock);
	while (!w->ph && !w->end)
		pthread_cond_wait(&w->changed, &w->lock);
	end = w->end;
	pthread_mutex_unlock(&w->lock);
	return !end;
}

static struct fuse_pollhandle *exchange(struct watch *w, struct fuse_pollhandle *ph)
{
	struct fuse_pollhandle *old;

	pthread_mutex_lock(&w->lock);
	old = w->ph;
	w->ph = ph;
	pthread_cond_signal(&w->changed);
	pthread_mutex_unlock(&w->lock);
	return old;
}

static void *watch(void *arg)
{
	struct watch *w = arg;

	while (wait_for_poll(w)) {
		struct fuse_pollhandle *ph;

		if (!view_poll(w->file, TICK_MS))
			continue;
		ph = exchange(w, NULL);
		if (ph)
			notify(ph);
	}
	return NULL;
}

static struct watch *watch_new(struct open_file *file)
{
	struct watch *w = calloc(1, sizeof(*w));
	sigset_t all, old;
	int rc;

	if (!w)
		return NULL;
	w->file = file;
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->changed, NULL);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	rc = pthread_create(&w->thread, NULL, watch, w);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (!rc)
		return w;
	pthread_cond_destroy(&w->changed);
	pthread_mutex_destroy(&w->lock);
	free(w);
	return NULL;
}

void watch_file(struct watch **w, struct open_file *file, struct fuse_pollhandle *ph)
{
	if (!*w)
		*w = watch_new(file);
	if (!*w) {
		notify(ph); /* without a thread poll(2) has to ask again */
		return;
	}
	/* All handles of a file wake the same sleepers. */
	ph = exchange(*w, ph);
	if (ph)
		fuse_pollhandle_destroy(ph);
}

void watch_free(struct watch *w)
{
	if (!w)
		return;
	pthread_mutex_lock(&w->lock);
	w->end = true;
	pthread_cond_signal(&w->changed);
	pthread_mutex_unlock(&w->lock);
	pthread_join(w->thread, NULL);
	if (w->ph)
		fuse_pollhandle_destroy(w->ph);
	pthread_cond_destroy(&w->changed);
	pthread_mutex_destroy(&w->lock);
	free(w);
}
