// SPDX-License-Identifier: GPL-2.0-or-later
/* watch.c - see watch.h */
#include "frontend/mount/watch.h"

#include <stdatomic.h>

#include "frontend/mount/fuse.h"
#include "frontend/tracefs/view.h"

static void notify(struct fuse_pollhandle *ph)
{
	fuse_lowlevel_notify_poll(ph);
	fuse_pollhandle_destroy(ph);
}

static bool look(struct waiter *waiter, int timeout_ms)
{
	struct watch *w = (struct watch *)waiter;
	struct fuse_pollhandle *ph;

	if (!atomic_load(w->ending) && !view_poll(w->file, timeout_ms))
		return false;
	ph = atomic_exchange(&w->ph, NULL);
	if (ph)
		notify(ph);
	return true;
}

void watch_init(struct watch *w, struct open_file *file, const atomic_bool *ending)
{
	*w = (struct watch){.waiter = {.look = look}, .file = file, .ending = ending};
}

void watch_file(struct watch *w, struct waiting *waiting, struct fuse_pollhandle *ph)
{
	/* All handles of a file wake the same sleepers. */
	ph = atomic_exchange(&w->ph, ph);
	if (ph)
		fuse_pollhandle_destroy(ph);
	if (waiting_add(waiting, &w->waiter)) {
		ph = atomic_exchange(&w->ph, NULL);
		if (ph)
			notify(ph); /* without a thread poll(2) has to ask again */
	}
}

void watch_exit(struct watch *w, struct waiting *waiting)
{
	waiting_remove(waiting, &w->waiter);
	if (w->ph)
		fuse_pollhandle_destroy(w->ph);
}
